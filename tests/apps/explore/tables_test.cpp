#include "apps/aurora/explore/tables.hpp"

#include "aurora/core/errors.hpp"
#include "explore_fixture.hpp"

namespace aurora::explore {
namespace {

namespace fs = std::filesystem;

class Tables : public ExploreFixture {
 protected:
  fs::path file() const { return root_ / "table.csv"; }
  Json read(std::uint64_t from = 0) const { return Json::parse(table_json(file(), from)); }
};

TEST_F(Tables, GiveWholeLinesFromAPlaceOn) {
  EXPECT_EQ(read(), Json::parse(R"({"columns": [], "rows": [], "from": 0, "next": 0})"));
  write(file(), "iteration,cov");
  EXPECT_EQ(read()["columns"], Json::array());
  const std::string head = "iteration,coverage,loss\n";
  write(file(), head);
  EXPECT_EQ(read()["columns"], Json({"iteration", "coverage", "loss"}));
  EXPECT_EQ(read()["rows"], Json::array());
  EXPECT_EQ(read()["next"], head.size());

  write(file(), head + "10,7.25,nan\n20,,1e-05\n30,8");
  const Json first = read();
  EXPECT_EQ(first["rows"], Json::parse("[[10, 7.25, null], [20, null, 1e-05]]"));
  EXPECT_EQ(first["from"], 0);
  const std::uint64_t next = first["next"];
  EXPECT_EQ(read(next)["rows"], Json::array());
  EXPECT_EQ(read(next)["next"], next);
  EXPECT_EQ(read(next)["columns"].size(), 3u);
  write(file(), head + "10,7.25,nan\n20,,1e-05\n30,8,inf\n");
  const Json more = read(next);
  EXPECT_EQ(more["rows"], Json::parse("[[30, 8, null]]"));
  EXPECT_EQ(more["from"], next);
}

TEST_F(Tables, BeginAnewIfTheyWereCutBack) {
  write(file(), "a,b\n1,2\n3,4\n");
  for (const std::uint64_t place : {1U, 5U, 7U, 13U, 1000U}) {
    EXPECT_EQ(read(place)["from"], 0) << place;
    EXPECT_EQ(read(place)["rows"].size(), 2u) << place;
  }
  EXPECT_EQ(read(8)["from"], 8);
  EXPECT_EQ(read(8)["rows"], Json::parse("[[3, 4]]"));
  EXPECT_EQ(read(12)["rows"], Json::array());
  EXPECT_EQ(read(~std::uint64_t{0})["rows"].size(), 2u);
}

TEST_F(Tables, TakeWhateverIsInThem) {
  write(file(), "a,\"<b>\",\xff\n<script>,1e999,0x10\n1\n1,2,3,4,5\n,,\n\n 7,8 ,+9\n");
  const Json all = read();
  EXPECT_EQ(all["columns"][1], "\"<b>\"");
  EXPECT_EQ(all["rows"],
            Json::parse("[[null, null, null], [1, null, null], [1, 2, 3], "
                        "[null, null, null], [null, null, null], [null, null, null]]"));
}

TEST_F(Tables, ComeInPiecesIfTheyAreLong) {
  std::string text = "i\n";
  constexpr int kRows = 900'000;
  for (int i = 0; i < kRows; ++i) text += std::to_string(i) + "\n";
  write(file(), text);
  std::uint64_t from = 0;
  int rows = 0;
  int answers = 0;
  do {
    const Json piece = read(from);
    EXPECT_EQ(piece["rows"].front()[0], rows);
    rows += static_cast<int>(piece["rows"].size());
    from = piece["next"];
    ++answers;
  } while (from < text.size());
  EXPECT_EQ(rows, kRows);
  EXPECT_EQ(answers, 2);
}

TEST_F(Tables, ShortLinesDoNotMakeEndlessAnswers) {
  std::string head = "a";
  for (int i = 0; i < 5000; ++i) head += ",a";
  write(file(), head + "\n" + std::string(100'000, '\n'));
  EXPECT_LT(table_json(file(), 0).size(), std::size_t{20} << 20);
}

TEST_F(Tables, RefuseLinesWithoutAnEnd) {
  write(file(), std::string(100'000, 'a'));
  EXPECT_THROW(read(), DataError);
  write(file(), "a\n" + std::string(5'000'000, '1'));
  EXPECT_THROW(read(), DataError);
  EXPECT_TRUE(last_row(file()).empty());
}

TEST_F(Tables, RefuseLinks) {
  write(root_ / "secret", "a\n1\n");
  fs::create_symlink(root_ / "secret", file());
  EXPECT_THROW(read(), FileError);
  EXPECT_THROW(last_row(file()), FileError);
  fs::remove(file());
  fs::create_directory(file());
  EXPECT_THROW(read(), FileError);
}

TEST_F(Tables, HaveALastRow) {
  EXPECT_TRUE(last_row(file()).empty());
  write(file(), "a,b\n");
  EXPECT_TRUE(last_row(file()).empty());
  write(file(), "a,b\n1,2\n3,4\n5,");
  const auto row = last_row(file());
  ASSERT_EQ(row.size(), 2u);
  EXPECT_EQ(row[0], std::pair(std::string("a"), 3.0));
  EXPECT_EQ(row[1], std::pair(std::string("b"), 4.0));
  std::string text = "a,b\n";
  for (int i = 0; i < 50'000; ++i) text += std::to_string(i) + ",1\n";
  write(file(), text);
  EXPECT_EQ(last_row(file())[0].second, 49'999);
}

}  // namespace
}  // namespace aurora::explore

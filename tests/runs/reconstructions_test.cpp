#include "aurora/runs/reconstructions.hpp"

#include <algorithm>
#include <set>

#include "aurora/algorithms/offspring.hpp"
#include "aurora/core/errors.hpp"
#include "aurora/core/random.hpp"
#include "aurora/runs/run_directory.hpp"
#include "aurora/runs/verify.hpp"
#include "run_fixture.hpp"

namespace aurora {
namespace {

namespace fs = std::filesystem;

const std::vector<Axis> kSquare = {{"x", 0, 10}, {"y", 0, 1000}};

/// Points in [0, 10] x [0, 1000]; only ids and ground truth are looked at.
Individuals points(const std::vector<std::pair<float, float>>& where) {
  Individuals all(IndividualsLayout{1, 1, 2, {{1}}}, where.size());
  for (std::size_t i = 0; i < where.size(); ++i) {
    all.ids[i] = i;
    all.ground_truth(i, 0) = where[i].first;
    all.ground_truth(i, 1) = where[i].second;
  }
  return all;
}

TEST(SpreadRows, AreFarFromEachOtherInUnitsOfTheAxes) {
  // The corners and a crowd around the first point.
  const Individuals all =
      points({{1, 100}, {1, 101}, {1.1F, 100}, {10, 0}, {10, 1000}, {0, 1000}, {1, 99}});
  EXPECT_EQ(spread_rows(all, kSquare, 4), (std::vector<std::size_t>{0, 4, 3, 5}));
}

TEST(SpreadRows, AreAllThereAreAndEachOnce) {
  const Individuals same = points({{5, 5}, {5, 5}, {5, 5}});
  const std::vector<std::size_t> rows = spread_rows(same, kSquare, 12);
  EXPECT_EQ(std::set<std::size_t>(rows.begin(), rows.end()).size(), 3U);
  EXPECT_TRUE(spread_rows(points({}), kSquare, 12).empty());
}

TEST(SpreadRows, DoNotDependOnTheOrderOfTheRows) {
  std::vector<std::pair<float, float>> where;
  Stream stream(3, Purpose::user);
  for (int i = 0; i < 50; ++i) {
    where.emplace_back(static_cast<float>(stream.below(4)), static_cast<float>(stream.below(4)));
  }
  const Individuals all = points(where);
  Individuals turned = all;
  for (std::size_t i = 0; i < where.size(); ++i) turned.copy_row(all, i, where.size() - 1 - i);
  const std::vector<std::size_t> first = spread_rows(all, kSquare, 12);
  const std::vector<std::size_t> second = spread_rows(turned, kSquare, 12);
  for (std::size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(all.ids[first[i]], turned.ids[second[i]]) << i;
  }
}

class RunWithReconstructions : public RunFixture {
 protected:
  void small_run(const std::string& variant) {
    run_with({"run.iterations=12", "run.batch=32", "container.target_size=100"}, variant);
  }
};

TEST_F(RunWithReconstructions, HasThoseOfItsEncoder) {
  small_run("aurora-csc-uniform-4");
  const Reconstructions some = load_reconstructions(out_ / "reconstructions");
  ASSERT_EQ(some.ids.size(), 12U);
  const Plan plan = plan_of_run(parts_, out_);
  const TaskSpec& spec = plan.spec();
  Stream stream(7, Purpose::user);
  const auto encoder = plan.make_encoder(plan.run.dimension, stream);
  encoder->set_state(load_encoder(out_ / "encoder"));
  const Individuals members = load_container(out_ / "container").individuals;
  Workers workers;
  for (std::size_t i = 0; i < some.ids.size(); ++i) {
    const auto found = std::ranges::find(members.ids, some.ids[i]);
    ASSERT_NE(found, members.ids.end());
    const auto row = static_cast<std::size_t>(found - members.ids.begin());
    Matrix<float> alone(1, spec.sensory.size());
    encoder->reconstruct(members.sensory.view().slice(row, 1), alone, workers);
    EXPECT_TRUE(std::ranges::equal(alone.row(0), some.values.row(i))) << i;
  }
}

TEST_F(RunWithReconstructions, HasNoneWithoutAnEncoder) {
  small_run("hc-csc-uniform");
  EXPECT_FALSE(fs::exists(out_ / "reconstructions"));
}

TEST_F(RunWithReconstructions, IsWholeWithoutThemButNotWithDamagedOnes) {
  small_run("aurora-csc-uniform-4");
  const auto whole = [&] { return std::ranges::all_of(verify_run(parts_, out_, 0), &Check::good); };
  EXPECT_TRUE(whole());
  const fs::path file = out_ / "reconstructions" / "reconstructions.npy";
  std::string bytes = content(file);
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  std::ofstream(file, std::ios::binary) << bytes;
  EXPECT_FALSE(whole());
  EXPECT_THROW(load_reconstructions(out_ / "reconstructions"), DataError);
  fs::remove_all(out_ / "reconstructions");
  EXPECT_FALSE(whole());
  RunSummary summary = read_summary(out_ / "run.json");
  summary.manifest.clear();
  RunDirectory::reopen(out_).write_summary(summary);
  EXPECT_TRUE(whole()) << "as runs of earlier versions are";
}

}  // namespace
}  // namespace aurora

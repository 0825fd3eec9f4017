#include "apps/aurora/explore/static_page.hpp"

#include <algorithm>
#include <set>

#include "apps/aurora/explore/base64.hpp"
#include "aurora/core/errors.hpp"
#include "aurora/core/random.hpp"
#include "aurora/runs/show.hpp"
#include "explore_fixture.hpp"

namespace aurora::explore {
namespace {

namespace fs = std::filesystem;

class Exporting : public ExploreFixture {
 protected:
  StaticPage write_page(const std::vector<fs::path>& places, std::size_t films) {
    Answers answers(parts_, places, {.live = false});
    return write_static_page(answers, out(), films);
  }
  fs::path out() const { return root_ / "page"; }
  Json data() const {
    const std::string text = content(out() / "data.js");
    const std::string begin = "window.aurora_export = ";
    EXPECT_TRUE(text.starts_with(begin));
    return Json::parse(text.substr(begin.size(), text.rfind(';') - begin.size()));
  }
};

TEST_F(Exporting, HasTheSameAnswersAsFilesAndInAScript) {
  const fs::path run = make_run("a");
  const StaticPage page = write_page({run}, 3);
  EXPECT_EQ(page.runs, 1u);
  EXPECT_EQ(page.films, 3u);
  EXPECT_EQ(page.notes, std::vector<std::string>());
  const Json answers = data()["answers"];
  std::set<std::string> names;
  for (const auto& [name, text] : answers.items()) {
    EXPECT_EQ(from_base64(text.get<std::string>()), content(out() / "data" / name)) << name;
    names.insert(name);
  }
  for (const char* name :
       {"runs.json", "runs/0.json", "runs/0/metrics.json", "runs/0/training.json",
        "runs/0/container.bin", "runs/0/container-at-10.bin", "runs/0/container-at-20.bin",
        "runs/0/novelty.bin", "runs/0/novelty-at-10.bin", "runs/0/novelty-at-20.bin",
        "runs/0/genotypes.bin"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
  EXPECT_EQ(names.size(), 14u);  // and three individuals
  EXPECT_EQ(Json::parse(content(out() / "data" / "runs.json"))["live"], false);

  Answers live(parts_, {run});
  EXPECT_EQ(decode(content(out() / "data/runs/0/container.bin")).floats,
            decode(*ask(live, "/api/runs/0/container").body).floats);
  const Viewer viewer(parts_, run);
  std::size_t films = 0;
  const Json files = data()["files"];
  for (const Json& name : files) {
    const std::string file = name;
    EXPECT_GT(fs::file_size(out() / "data" / file), 0u) << file;
    if (!file.ends_with("-film.apng")) continue;
    const std::string id = file.substr(file.find("individual-") + 11,
                                       file.find("-film") - file.find("individual-") - 11);
    const std::size_t row = viewer.select({.id = std::stoull(id)})[0];
    const Drawn drawn = viewer.draw(row);
    EXPECT_EQ(content(out() / "data" / file), drawn.files[1].bytes);
    const std::string gif = file.substr(0, file.rfind('.')) + ".gif";
    EXPECT_NE(std::ranges::find(files, Json(gif)), files.end());
    EXPECT_EQ(content(out() / "data" / gif),
              viewer.draw(row, {false, FilmKind::gif}).files[0].bytes);
    const Json one = Json::parse(content(out() / "data/runs/0" / ("individual-" + id + ".json")));
    EXPECT_EQ(one["difference"], "");
    EXPECT_EQ(one["command"], "aurora show a --id " + id);
    ++films;
  }
  EXPECT_EQ(films, 3u);
}

TEST_F(Exporting, HasTheGenesOfEverybodyOnce) {
  const fs::path run = make_run("a");
  write_page({run}, 0);
  std::map<std::uint32_t, std::vector<float>> expected;
  for (const char* source : {"container", "snapshots/000010", "snapshots/000020"}) {
    const Individuals members = load_container(run / source).individuals;
    for (std::size_t row = 0; row < members.size(); ++row) {
      const auto genes = members.genotypes.row(row);
      expected[static_cast<std::uint32_t>(members.ids[row])] = {genes.begin(), genes.end()};
    }
  }
  const Decoded decoded = decode(content(out() / "data/runs/0/genotypes.bin"));
  ASSERT_EQ(decoded.header["count"], expected.size());
  std::size_t at = 0;
  for (const auto& [id, genes] : expected) {
    EXPECT_EQ(decoded.wholes.at("id")[at], id);
    EXPECT_EQ(decoded.floats.at("genotype")[2 * at], genes[0]);
    EXPECT_EQ(decoded.floats.at("genotype")[2 * at + 1], genes[1]);
    ++at;
  }
}

TEST_F(Exporting, SaysNothingAboutTheMachine) {
  write_page({make_run("a")}, 2);
  for (const auto& entry : fs::recursive_directory_iterator(out())) {
    if (!entry.is_regular_file()) continue;
    EXPECT_EQ(content(entry.path()).find(root_.string()), std::string::npos) << entry.path();
  }
}

TEST_F(Exporting, ThePageLoadsPlainScripts) {
  write_page({make_run("a")}, 0);
  const std::string page = content(out() / "index.html");
  EXPECT_EQ(page.find("module"), std::string::npos);
  EXPECT_NE(page.find("<script src=\"data.js\" defer></script><script src=\"explore.js\" defer>"),
            std::string::npos);
  EXPECT_TRUE(content(out() / "explore.js").starts_with("(async () => {"));
  EXPECT_FALSE(fs::exists(out() / "main.js"));
  EXPECT_TRUE(fs::exists(out() / "style.css"));
}

TEST_F(Exporting, WhatIsBrokenIsSaidAndLeftOut) {
  make_run("runs/a");
  const fs::path broken = make_run("runs/b");
  for (const char* name : {"container", "snapshots", "checkpoint"}) fs::remove_all(broken / name);
  const StaticPage page = write_page({root_ / "runs"}, 1);
  EXPECT_EQ(page.runs, 2u);
  EXPECT_EQ(page.films, 1u);
  ASSERT_EQ(page.notes.size(), 1u);
  EXPECT_TRUE(page.notes[0].starts_with("runs/1/container.bin: the run has no container yet"));
}

TEST_F(Exporting, RefusesAFolderThatHasSomethingInIt) {
  fs::create_directory(out());
  write(out() / "mine", "");
  EXPECT_THROW(write_page({make_run("a")}, 0), FileError);
  fs::create_directory(root_ / "empty");
  EXPECT_THROW(write_page({root_ / "empty"}, 0), DataError);
}

TEST(MostDifferent, AreFarFromEachOther) {
  Individuals members(IndividualsLayout{1, 2, 1, {{0}}}, 200);
  Stream stream(5, Purpose::user);
  for (std::size_t row = 0; row < members.size(); ++row) {
    members.fitness[row] = static_cast<float>(stream.below(1000));
    for (float& value : members.descriptors.row(row)) {
      value = static_cast<float>(stream.below(1000));
    }
  }
  const auto squared = [&](std::size_t a, std::size_t b) {
    return std::pow(members.descriptors(a, 0) - members.descriptors(b, 0), 2) +
           std::pow(members.descriptors(a, 1) - members.descriptors(b, 1), 2);
  };
  const std::vector<std::size_t> chosen = most_different(members, 10);
  ASSERT_EQ(chosen.size(), 10u);
  EXPECT_EQ(members.fitness[chosen[0]], *std::ranges::max_element(members.fitness));
  for (std::size_t i = 1; i < chosen.size(); ++i) {
    const auto nearest = [&](std::size_t row) {
      double least = 1e300;
      for (std::size_t j = 0; j < i; ++j) least = std::min(least, squared(row, chosen[j]));
      return least;
    };
    double farthest = 0;
    for (std::size_t row = 0; row < members.size(); ++row) {
      farthest = std::max(farthest, nearest(row));
    }
    EXPECT_EQ(nearest(chosen[i]), farthest);
  }
  EXPECT_EQ(most_different(members, 0).size(), 0u);
  std::vector<std::size_t> all = most_different(members, 500);
  std::ranges::sort(all);
  EXPECT_EQ(all.size(), 200u);
  EXPECT_EQ(std::ranges::adjacent_find(all), all.end());
  EXPECT_EQ(most_different(Individuals(), 5).size(), 0u);
}

}  // namespace
}  // namespace aurora::explore

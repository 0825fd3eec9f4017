#include "apps/aurora/explore/answers.hpp"

#include <algorithm>

#include "apps/aurora/explore/page.hpp"
#include "aurora/containers/nearest_neighbours.hpp"
#include "aurora/core/errors.hpp"
#include "aurora/runs/repertoire.hpp"
#include "aurora/runs/show.hpp"
#include "aurora/storage/film.hpp"
#include "explore_fixture.hpp"

namespace aurora::explore {
namespace {

namespace fs = std::filesystem;

class Answering : public ExploreFixture {
 protected:
  static std::vector<float> values(const Matrix<float>& matrix) {
    return {matrix.data(), matrix.data() + matrix.rows() * matrix.cols()};
  }
  /// Nothing but the newest of these stays.
  static void keep(const fs::path& run, const std::vector<std::string>& names) {
    for (const char* name : {"container", "snapshots", "checkpoint", "checkpoint.previous"}) {
      if (std::ranges::find(names, name) == names.end()) fs::remove_all(run / name);
    }
  }
};

TEST_F(Answering, ThePageIsThere) {
  make_run("a");
  Answers answers(parts_, {root_});
  for (const PageFile& file : page_files()) {
    const Answer answer = ask(answers, "/" + std::string(file.name));
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(*answer.body, file.bytes);
    EXPECT_EQ(answer.type, type_of(file.name));
    EXPECT_EQ(ask(answers, "/" + std::string(file.name), answer.etag).status, 304);
  }
  EXPECT_EQ(*ask(answers, "/").body, *ask(answers, "/index.html").body);
  EXPECT_EQ(ask(answers, "/nothing.js").status, 404);
  EXPECT_EQ(ask(answers, "/..").status, 404);
}

TEST_F(Answering, RunsAreFoundInFoldersAndKeepTheirNumbers) {
  fs::create_directories(root_ / "study" / "b");
  make_run("study/b/one");
  make_run("two", "hc-csc-uniform");
  Answers answers(parts_, {root_, root_ / "two"});
  const Json all = json(answers, "/api/runs");
  EXPECT_EQ(all["live"], true);
  ASSERT_EQ(all["runs"].size(), 2u);  // "two" was found twice
  EXPECT_EQ(all["runs"][0]["name"], "study/b/one");
  EXPECT_EQ(all["runs"][0]["id"], 0);
  EXPECT_EQ(all["runs"][0]["state"], "finished");
  EXPECT_EQ(all["runs"][0]["task"], "tiny");
  EXPECT_EQ(all["runs"][0]["iteration"], 20);
  EXPECT_EQ(all["runs"][1]["name"], "two");
  EXPECT_EQ(all["runs"][1]["variant"], "hc-csc-uniform");
  EXPECT_EQ(ask(answers, "/api/runs/2").status, 404);
  EXPECT_EQ(ask(answers, "/api/runs/99999999").status, 404);
  EXPECT_THROW(Answers(parts_, {root_ / "nowhere"}), FileError);
}

TEST_F(Answering, LinksInFoldersAreNotFollowed) {
  make_run("elsewhere/a");
  fs::create_directory(root_ / "folder");
  fs::create_directory_symlink(root_ / "elsewhere", root_ / "folder" / "link");
  fs::create_directory_symlink(root_ / "elsewhere" / "a", root_ / "folder" / "run");
  Answers answers(parts_, {root_ / "folder"});
  EXPECT_EQ(json(answers, "/api/runs")["runs"], Json::array());
  // One that was named may be a link.
  Answers named(parts_, {root_ / "folder" / "link"});
  EXPECT_EQ(json(named, "/api/runs")["runs"].size(), 1u);
}

TEST_F(Answering, ARunIsDescribed) {
  const fs::path run = make_run("a");
  Answers answers(parts_, {run});
  const Json about = json(answers, "/api/runs/0");
  EXPECT_EQ(about["name"], "a");
  EXPECT_EQ(about["directory"], run.string());
  EXPECT_EQ(about["task"]["name"], "tiny");
  EXPECT_EQ(about["task"]["genes"], 2);
  EXPECT_EQ(about["task"]["axes"],
            Json::parse(R"([{"name": "x", "lower": 0, "upper": 1, "unit": "m", "downwards": false},
                            {"name": "y", "lower": 0, "upper": 1, "unit": "m", "downwards": true}])"));
  EXPECT_EQ(about["task"]["sensory"], Json::parse(R"({"shape": [3], "type": "float32"})"));
  EXPECT_EQ(about["descriptor"]["dimension"], 2);
  EXPECT_EQ(about["descriptor"]["kind"], "learned");
  EXPECT_EQ(about["descriptor"]["names"], Json({"z1", "z2"}));
  EXPECT_EQ(about["settings"]["run.iterations"], "20");
  EXPECT_EQ(about["summary"]["status"], "finished");
  EXPECT_EQ(about["encoder_available"], true);
  EXPECT_EQ(about["grid"], Json::parse(R"({"columns": 40, "rows": 40})"));
  ASSERT_EQ(about["snapshots"].size(), 2u);
  EXPECT_EQ(about["snapshots"][0]["iteration"], 10);
  EXPECT_EQ(about["snapshots"][0]["size"],
            load_container(run / "snapshots" / "000010").individuals.size());
  EXPECT_EQ(about["current"]["iteration"], 20);
  EXPECT_EQ(about["current"]["source"], "container");
  EXPECT_EQ(about["current"]["etag"], ask(answers, "/api/runs/0/container").etag);
}

TEST_F(Answering, AContainerIsItsColumns) {
  const fs::path run = make_run("a");
  Answers answers(parts_, {run});
  const Answer answer = ask(answers, "/api/runs/0/container");
  ASSERT_EQ(answer.status, 200);
  EXPECT_EQ(answer.type, "application/octet-stream");
  const Decoded decoded = decode(*answer.body);
  const SavedContainer saved = load_container(run / "container");
  const Individuals& members = saved.individuals;
  EXPECT_EQ(decoded.header["count"], members.size());
  EXPECT_EQ(decoded.header["iteration"], 20);
  EXPECT_EQ(decoded.header["etag"], answer.etag);
  EXPECT_EQ(decoded.wholes.at("id"),
            std::vector<std::uint32_t>(members.ids.begin(), members.ids.end()));
  EXPECT_EQ(decoded.floats.at("fitness"), members.fitness);
  EXPECT_EQ(decoded.floats.at("reconstruction_error"), members.reconstruction_error);
  EXPECT_EQ(decoded.floats.at("ground_truth"), values(members.ground_truth));
  EXPECT_EQ(decoded.floats.at("descriptor"), values(members.descriptors));
  for (std::size_t row = 0; row < members.size(); ++row) {
    EXPECT_EQ(decoded.wholes.at("birth")[row], members.ids[row] / 8 + 1);
  }
  EXPECT_EQ(ask(answers, "/api/runs/0/container", answer.etag).status, 304);
  EXPECT_EQ(ask(answers, "/api/runs/0/container", "\"other\"").status, 200);

  const Decoded early = decode(*ask(answers, "/api/runs/0/container?at=10").body);
  EXPECT_EQ(early.floats.at("fitness"),
            load_container(run / "snapshots" / "000010").individuals.fitness);
  EXPECT_EQ(ask(answers, "/api/runs/0/container?at=11").status, 404);
}

TEST_F(Answering, NoveltyIsTheMeanDistanceToTheNearest) {
  const fs::path run = make_run("a");
  Answers answers(parts_, {run});
  const Answer answer = ask(answers, "/api/runs/0/novelty");
  ASSERT_EQ(answer.status, 200);
  EXPECT_EQ(answer.etag, ask(answers, "/api/runs/0/container").etag);
  const SavedContainer saved = load_container(run / "container");
  const Individuals& members = saved.individuals;
  std::vector<float> novelty(members.size());
  ASSERT_EQ(answer.body->size(), 4 * novelty.size());
  std::memcpy(novelty.data(), answer.body->data(), answer.body->size());
  for (std::size_t row = 0; row < members.size(); ++row) {
    std::vector<double> distances;
    for (std::size_t other = 0; other < members.size(); ++other) {
      if (other == row) continue;
      double squared = 0;
      for (std::size_t i = 0; i < 2; ++i) {
        squared += std::pow(members.descriptors(row, i) - members.descriptors(other, i), 2);
      }
      distances.push_back(std::sqrt(squared));
    }
    std::ranges::sort(distances);
    distances.resize(std::min<std::size_t>(15, distances.size()));
    double sum = 0;
    for (const double distance : distances) sum += distance;
    EXPECT_NEAR(novelty[row], sum / static_cast<double>(distances.size()), 1e-4);
  }
  const std::size_t early = load_container(run / "snapshots" / "000010").individuals.size();
  EXPECT_EQ(ask(answers, "/api/runs/0/novelty?at=10").body->size(), 4 * early);
  EXPECT_EQ(ask(answers, "/api/runs/0/novelty?at=11").status, 404);
}

TEST_F(Answering, HandCodedRunsHaveNoReconstructionError) {
  make_run("a", "hc-csc-uniform");
  Answers answers(parts_, {root_});
  EXPECT_FALSE(
      decode(*ask(answers, "/api/runs/0/container").body).floats.contains("reconstruction_error"));
  const Json about = json(answers, "/api/runs/0");
  EXPECT_EQ(about["descriptor"]["names"], Json({"x", "y"}));
  EXPECT_EQ(about["descriptor"]["encoder"], nullptr);
  EXPECT_EQ(about["encoder_available"], false);
}

TEST_F(Answering, ARunThatGoesOnShowsItsCheckpoint) {
  const fs::path run = make_run("a", "aurora-csc-uniform-2", {"run.snapshot_every=15"});
  const SavedContainer last = load_container(run / "container");
  const std::string sensory =
      Viewer(parts_, run).draw(0, {true, FilmKind::none}).files.back().bytes;
  keep(run, {"snapshots", "checkpoint"});
  fs::remove_all(run / "encoder");
  Answers answers(parts_, {run});
  const Answer answer = ask(answers, "/api/runs/0/container");
  ASSERT_EQ(answer.status, 200) << *answer.body;
  const Decoded decoded = decode(*answer.body);
  EXPECT_EQ(decoded.header["source"], "checkpoint");
  EXPECT_EQ(decoded.header["iteration"], 20);
  EXPECT_EQ(decoded.floats.at("fitness"), last.individuals.fitness);
  EXPECT_EQ(decoded.floats.at("descriptor"), values(last.individuals.descriptors));
  // The encoder is the checkpoint's, too.
  EXPECT_EQ(*ask(answers, "/api/runs/0/sensory?id=" + std::to_string(last.individuals.ids[0])).body,
            sensory);

  // A checkpoint that is gone lives on for who has just seen it; then the snapshot is the newest.
  fs::remove_all(run / "checkpoint");
  EXPECT_EQ(decode(*ask(answers, "/api/runs/0/container").body).header["iteration"], 15);
  EXPECT_EQ(decode(*ask(answers, "/api/runs/0/container?at=20").body).header["iteration"], 20);
}

TEST_F(Answering, WhatIsReplacedIsReadAgain) {
  const fs::path run = make_run("a");
  const fs::path other = make_run("b", "aurora-csc-uniform-2", {"run.seed=2"});
  Answers answers(parts_, {run});
  const Answer before = ask(answers, "/api/runs/0/container");
  fs::rename(run / "container", root_ / "aside");
  fs::rename(other / "container", run / "container");
  const Answer after = ask(answers, "/api/runs/0/container", before.etag);
  ASSERT_EQ(after.status, 200);
  EXPECT_NE(after.etag, before.etag);
  EXPECT_EQ(decode(*after.body).floats.at("fitness"),
            load_container(run / "container").individuals.fitness);
}

TEST_F(Answering, TablesComePieceByPiece) {
  const fs::path run = make_run("a");
  Answers answers(parts_, {run});
  const Json metrics = json(answers, "/api/runs/0/metrics");
  EXPECT_EQ(metrics["columns"][0], "iteration");
  EXPECT_EQ(metrics["rows"].size(), 2u);
  EXPECT_EQ(metrics["next"], fs::file_size(run / "metrics.csv"));
  const std::string next = std::to_string(metrics["next"].get<int>());
  EXPECT_EQ(json(answers, "/api/runs/0/metrics?from=" + next)["rows"], Json::array());
  EXPECT_EQ(json(answers, "/api/runs/0/training")["columns"][0], "iteration");
}

TEST_F(Answering, AnIndividualIsWhatIsStored) {
  const fs::path run = make_run("a");
  const SavedContainer saved = load_container(run / "container");
  const Individuals& members = saved.individuals;
  Answers answers(parts_, {run});
  const std::size_t row = members.size() / 2;
  const std::string id = std::to_string(members.ids[row]);
  const Json one = json(answers, "/api/runs/0/individual?id=" + id);
  EXPECT_EQ(one["id"], members.ids[row]);
  EXPECT_EQ(one["row"], row);
  EXPECT_EQ(one["fitness"].get<float>(), members.fitness[row]);
  EXPECT_EQ(one["genes"][1].get<float>(), members.genotypes(row, 1));
  EXPECT_EQ(one["ground_truth"]["y"].get<float>(), members.ground_truth(row, 1));
  EXPECT_EQ(one["descriptor"][0].get<float>(), members.descriptors(row, 0));
  EXPECT_EQ(one["difference"], "");
  EXPECT_EQ(one["command"], "aurora show " + run.string() + " --id " + id);
  const std::vector<double> here(members.descriptors.row(row).begin(),
                                 members.descriptors.row(row).end());
  const auto near = nearest_to_descriptor(saved, here, 16);
  ASSERT_EQ(one["neighbours"].size(), std::min<std::size_t>(15, members.size() - 1));
  EXPECT_EQ(one["neighbours"][0]["id"], members.ids[near[1].row]);
  EXPECT_DOUBLE_EQ(one["neighbours"][0]["distance"].get<double>(), near[1].distance);
  EXPECT_EQ(ask(answers, "/api/runs/0/individual?id=4000000000").status, 404);

  const std::uint64_t old = load_container(run / "snapshots" / "000010").individuals.ids[0];
  EXPECT_EQ(json(answers, "/api/runs/0/individual?at=10&id=" + std::to_string(old))["command"],
            "aurora show " + run.string() + " --id " + std::to_string(old) + " --at 10");
}

TEST_F(Answering, StoredValuesThatDoNotComeBackAreSaid) {
  const fs::path run = make_run("a");
  SavedContainer saved = load_container(run / "container");
  saved.individuals.sensory.mutable_view().row<float>(0)[1] += 0.5F;
  saved.individuals.fitness[1] -= 1;
  fs::remove_all(run / "container");
  const Tiny task;
  RunDirectory::create(root_ / "other")
      .write_container(saved.individuals, saved.state, task.spec());
  fs::rename(root_ / "other" / "container", run / "container");
  fs::remove_all(root_ / "other");
  Answers answers(parts_, {run});
  const auto difference = [&](std::size_t row) {
    return json(answers, "/api/runs/0/individual?id=" +
                             std::to_string(saved.individuals.ids[row]))["difference"]
        .get<std::string>();
  };
  EXPECT_EQ(difference(0), "the sensory data is not what is stored");
  EXPECT_TRUE(difference(1).starts_with("fitness is "));
  EXPECT_EQ(difference(2), "");
}

TEST_F(Answering, PicturesAreThoseOfShow) {
  const fs::path run = make_run("a");
  Answers answers(parts_, {run});
  const Viewer viewer(parts_, run);
  const std::string id = std::to_string(viewer.container().individuals.ids[3]);
  viewer.show(3, root_ / "show", FilmKind::apng);
  viewer.show(3, root_ / "show", FilmKind::gif);
  const std::pair<const char*, std::string> files[] = {{"picture?", ".png"},
                                                       {"sensory?", "-sensory.png"},
                                                       {"film?", "-film.apng"},
                                                       {"film?kind=gif&", "-film.gif"}};
  for (const auto& [what, ending] : files) {
    const std::string target = std::string("/api/runs/0/") + what + "id=" + id;
    const Answer answer = ask(answers, target);
    ASSERT_EQ(answer.status, 200) << target << *answer.body;
    EXPECT_EQ(*answer.body, content(root_ / "show" / ("individual-" + id + ending))) << target;
    EXPECT_EQ(ask(answers, target, answer.etag).status, 304);
  }
  const Image backdrop(4, 4, {1, 2, 3});
  EXPECT_EQ(*ask(answers, "/api/runs/0/backdrop").body,
            film_bytes({&backdrop, 1}, 0, "aurora explore: the world of tiny"));
}

TEST_F(Answering, ATaskThatDoesNotDrawHasNoPictures) {
  class Plain : public Tiny {
    Drawing draw(std::span<const float>) const override { return {}; }
    Image backdrop() const override { return {}; }
  };
  make_run("a");
  Parts parts = builtin_parts();
  parts.tasks.add(part<NoOptions>("tiny", "").made_by([](const NoOptions&, const TaskContext&) {
    return std::make_unique<Plain>();
  }));
  Answers answers(parts, {root_});
  const std::string id =
      std::to_string(decode(*ask(answers, "/api/runs/0/container").body).wholes.at("id")[0]);
  EXPECT_EQ(ask(answers, "/api/runs/0/picture?id=" + id).status, 204);
  EXPECT_EQ(ask(answers, "/api/runs/0/film?id=" + id).status, 204);
  EXPECT_EQ(ask(answers, "/api/runs/0/sensory?id=" + id).status, 200);
  EXPECT_EQ(ask(answers, "/api/runs/0/backdrop").status, 204);
}

TEST_F(Answering, ATaskThatThrowsIsAnAnswer) {
  class Broken : public Tiny {
    Drawing draw(std::span<const float>) const override { throw 5; }
  };
  make_run("a");
  Parts parts = builtin_parts();
  parts.tasks.add(part<NoOptions>("tiny", "").made_by([](const NoOptions&, const TaskContext&) {
    return std::make_unique<Broken>();
  }));
  Answers answers(parts, {root_});
  const std::string id =
      std::to_string(decode(*ask(answers, "/api/runs/0/container").body).wholes.at("id")[0]);
  EXPECT_EQ(ask(answers, "/api/runs/0/picture?id=" + id).status, 500);
  EXPECT_EQ(ask(answers, "/api/runs/0/individual?id=" + id).status, 200);
}

TEST_F(Answering, WithoutTheTaskThereAreStillPointsAndCurves) {
  make_run("a");
  const Parts others = builtin_parts();
  Answers answers(others, {root_});
  EXPECT_EQ(json(answers, "/api/runs")["runs"][0]["state"], "finished");
  const Json about = json(answers, "/api/runs/0");
  EXPECT_EQ(about["task"], nullptr);
  EXPECT_NE(about["notes"][0].get<std::string>().find("tiny"), std::string::npos);
  const Decoded decoded = decode(*ask(answers, "/api/runs/0/container").body);
  EXPECT_FALSE(decoded.wholes.contains("birth"));
  EXPECT_EQ(json(answers, "/api/runs/0/metrics")["rows"].size(), 2u);
  const std::string id = std::to_string(decoded.wholes.at("id")[0]);
  EXPECT_EQ(ask(answers, "/api/runs/0/picture?id=" + id).status, 501);
  EXPECT_EQ(json(answers, "/api/runs/0/individual?id=" + id)["difference"], nullptr);
  EXPECT_EQ(ask(answers, "/api/runs/0/backdrop").status, 204);
}

TEST_F(Answering, BrokenRunsAreAnswersInJson) {
  const fs::path run = make_run("a");
  make_run("b");
  Answers answers(parts_, {root_});
  keep(run, {"container"});
  write(run / "container" / "fitness.npy", "damaged");
  const auto error = [&](const std::string& target) {
    const Answer answer = ask(answers, target);
    EXPECT_GE(answer.status, 400) << target;
    return Json::parse(*answer.body)["error"].get<std::string>();
  };
  EXPECT_NE(error("/api/runs/0/container").find("fitness.npy"), std::string::npos);
  EXPECT_NE(error("/api/runs/0/individual?id=1"), "");
  write(run / "config.toml", "nonsense =");
  EXPECT_EQ(json(answers, "/api/runs/0")["task"], nullptr);
  write(run / "run.json", "{\"name\": \"<script>alert(1)</script>\"");
  EXPECT_EQ(json(answers, "/api/runs")["runs"][0]["state"], "broken");
  EXPECT_EQ(json(answers, "/api/runs/0")["summary"], nullptr);
  keep(run, {});
  EXPECT_NE(error("/api/runs/0/container").find("no container yet"), std::string::npos);
  fs::remove_all(run);
  EXPECT_EQ(json(answers, "/api/runs")["runs"][0]["state"], "broken");
  EXPECT_EQ(json(answers, "/api/runs/0/metrics")["rows"], Json::array());
  // The other one does not mind.
  EXPECT_EQ(json(answers, "/api/runs")["runs"][1]["state"], "finished");
  EXPECT_EQ(ask(answers, "/api/runs/1/container").status, 200);
}

TEST_F(Answering, NothingIsReadThroughLinks) {
  const fs::path run = make_run("a");
  const fs::path other = make_run("b");
  Answers answers(parts_, {run});
  write(root_ / "secret.csv", "iteration,password\n1,42\n");
  fs::remove(run / "metrics.csv");
  fs::create_symlink(root_ / "secret.csv", run / "metrics.csv");
  EXPECT_EQ(ask(answers, "/api/runs/0/metrics").status, 500);
  EXPECT_EQ(ask(answers, "/api/runs/0/metrics").body->find("password"), std::string::npos);
  keep(run, {"container"});
  fs::rename(run / "container" / "fitness.npy", root_ / "fitness.npy");
  fs::create_symlink(root_ / "fitness.npy", run / "container" / "fitness.npy");
  EXPECT_NE(ask(answers, "/api/runs/0/container").status, 200);
  fs::remove_all(run / "container");
  fs::create_directory_symlink(other / "container", run / "container");
  EXPECT_NE(ask(answers, "/api/runs/0/container").status, 200);
  fs::remove(run / "config.toml");
  write(root_ / "secret", "password = very secret");
  fs::create_symlink(root_ / "secret", run / "config.toml");
  const Answer about = ask(answers, "/api/runs/0");
  EXPECT_EQ(about.body->find("very secret"), std::string::npos);
}

TEST_F(Answering, NamesAreText) {
  const std::string name = "<img src=x onerror=alert(1)>\"'\n\xff";
  const fs::path run = make_run("a");
  fs::rename(run, root_ / name);
  Answers answers(parts_, {root_});
  const Json all = json(answers, "/api/runs");
  EXPECT_TRUE(all["runs"][0]["name"].get<std::string>().starts_with("<img src=x"));
  const std::string id =
      std::to_string(decode(*ask(answers, "/api/runs/0/container").body).wholes.at("id")[0]);
  EXPECT_NE(
      json(answers, "/api/runs/0/individual?id=" + id)["command"].get<std::string>().find("'\\''"),
      std::string::npos);
}

TEST_F(Answering, WhoHasTheTokenGetsACookie) {
  make_run("a");
  Answers answers(parts_, {root_});
  const Door door{.host = "0.0.0.0", .machine = "box", .token = "secret12", .cookie = "aurora_1"};
  EXPECT_EQ(answers.respond({"GET", "/", {"box"}, "", "", ""}, door).status, 401);
  EXPECT_EQ(answers.respond({"GET", "/api/runs", {"box"}, "", "", ""}, door).status, 401);
  const Answer first = answers.respond({"GET", "/?token=secret12", {"box"}, "", "", ""}, door);
  EXPECT_EQ(first.status, 303);
  EXPECT_EQ(first.headers[0], std::pair(std::string("Location"), std::string("/")));
  EXPECT_EQ(first.headers[1].second, "aurora_1=secret12; Path=/; HttpOnly; SameSite=Strict");
  EXPECT_EQ(answers.respond({"GET", "/", {"box"}, "", "aurora_1=secret12", ""}, door).status, 200);
  EXPECT_EQ(answers.respond({"POST", "/", {"box"}, "", "aurora_1=secret12", ""}, door).status, 405);
}

}  // namespace
}  // namespace aurora::explore

#include "aurora/runs/sources.hpp"

#include <atomic>
#include <nlohmann/json.hpp>
#include <thread>

#include "aurora/core/errors.hpp"
#include "aurora/runs/checkpoint.hpp"
#include "aurora/runs/repertoire.hpp"
#include "aurora/runs/show.hpp"
#include "run_fixture.hpp"

namespace aurora {
namespace {

namespace fs = std::filesystem;

class Sources : public RunFixture {
 protected:
  void make_run(const std::string& variant = "aurora-csc-uniform-2") {
    run_with({"run.iterations=12", "run.batch=8", "run.snapshot_every=5", "run.threads=1",
              "container.target_size=30"},
             variant);
  }
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const Source& source : sources_of(out_)) {
      all.push_back(source.name + "@" + std::to_string(source.iteration));
    }
    return all;
  }
  using Names = std::vector<std::string>;
};

TEST_F(Sources, AreListedTheNewestFirst) {
  make_run();
  EXPECT_EQ(names(),
            (Names{"container@12", "checkpoint@12", "snapshots/000010@10", "snapshots/000005@5"}));
  fs::create_directory(out_ / "snapshots" / ".000007.new");
  fs::create_directory(out_ / "snapshots" / "seven");
  fs::create_directory(out_ / "snapshots" / "-1");
  EXPECT_EQ(names().size(), 4u);
  fs::rename(out_ / "container", out_ / ".container.old");  // a write that was cut short
  EXPECT_EQ(names()[0], ".container.old@12");
  EXPECT_EQ(load_source(out_, sources_of(out_)[0], {}).individuals.ids.size(),
            read_summary(out_ / "run.json").container_size);
  fs::remove_all(out_ / ".container.old");
  fs::rename(out_ / "snapshots" / "000005", out_ / "snapshots" / "000012");
  EXPECT_EQ(names(), (Names{"snapshots/000012@12", "checkpoint@12", "snapshots/000010@10"}));
  std::ofstream(out_ / "checkpoint" / "manifest.json") << "damaged";
  EXPECT_EQ(names(), (Names{"snapshots/000012@12", "snapshots/000010@10"}));
  EXPECT_EQ(sources_of(root_ / "nowhere"), std::vector<Source>());
}

TEST_F(Sources, OfARunThatGoesOnAreNewerThanItsOldContainer) {
  make_run();
  const fs::path short_run = out_;
  RunOptions options{.out = short_run, .resume = true};
  run(parts_,
      plan_with({"run.iterations=20", "run.batch=8", "run.snapshot_every=5", "run.threads=1",
                 "container.target_size=30"},
                "aurora-csc-uniform-2"),
      options, stop_);
  // As if it had been killed before it ended: run.json and the container are those of before.
  RunSummary summary = read_summary(short_run / "run.json");
  summary.iterations = 12;
  summary.status = RunStatus::running;
  summary.manifest.clear();
  RunDirectory::reopen(short_run).write_summary(summary);
  out_ = short_run;
  EXPECT_EQ(names()[0], "snapshots/000020@20");
  EXPECT_EQ(names()[1], "checkpoint@20");
}

TEST_F(Sources, ACheckpointHasTheIndividualsOfItsContainer) {
  for (const char* variant : {"aurora-csc-uniform-2", "hc-csc-uniform"}) {
    make_run(variant);
    const Plan plan = plan_of_run(parts_, out_);
    const SavedContainer whole = load_source(out_, {"container", 12}, plan.spec());
    const SavedContainer plain =
        load_source(out_, {"container", 12}, plan.spec(), SensoryWanted::no);
    const SavedContainer last = load_source(out_, {"checkpoint", 12}, plan.spec());
    EXPECT_TRUE(whole.has_sensory);
    for (const SavedContainer* other : {&plain, &last}) {
      EXPECT_FALSE(other->has_sensory);
      EXPECT_EQ(other->task, whole.task);
      EXPECT_EQ(other->individuals.ids, whole.individuals.ids);
      EXPECT_EQ(other->individuals.fitness, whole.individuals.fitness);
      for (std::size_t row = 0; row < whole.individuals.size(); ++row) {
        EXPECT_TRUE(std::ranges::equal(other->individuals.genotypes.row(row),
                                       whole.individuals.genotypes.row(row)));
        EXPECT_TRUE(std::ranges::equal(other->individuals.descriptors.row(row),
                                       whole.individuals.descriptors.row(row)));
      }
    }
  }
}

TEST_F(Sources, ACheckpointHasTheEncoderToo) {
  make_run();
  const auto saved = load_encoder_of(out_, {"container", 12});
  const auto last = load_encoder_of(out_, {"checkpoint", 12});
  ASSERT_EQ(saved.size(), last.size());
  for (std::size_t i = 0; i < saved.size(); ++i) {
    EXPECT_EQ(saved[i].name, last[i].name);
    EXPECT_EQ(saved[i].values, last[i].values);
  }
  fs::remove_all(out_ / "encoder");
  EXPECT_EQ(load_encoder_of(out_, {"snapshots/000010", 10}).size(), last.size());
  fs::remove_all(out_ / "checkpoint");
  EXPECT_TRUE(load_encoder_of(out_, {"snapshots/000010", 10}).empty());
}

TEST_F(Sources, DamagedCheckpointsAreRefused) {
  make_run();
  const Plan plan = plan_of_run(parts_, out_);
  TaskSpec other = plan.spec();
  other.ground_truth.pop_back();
  EXPECT_THROW(load_source(out_, {"checkpoint", 12}, other), DataError);
  std::ofstream(out_ / "checkpoint" / "container.fitness.npy") << "damaged";
  EXPECT_THROW(load_source(out_, {"checkpoint", 12}, plan.spec()), DataError);
  EXPECT_THROW(load_checkpoint_container(out_ / "container"), DataError);
  EXPECT_THROW(checkpoint_iteration(out_ / "container"), DataError);
  EXPECT_THROW(load_checkpoint_encoder(out_ / "container"), DataError);
}

TEST_F(Sources, AreReadWhileTheyAreReplaced) {
  make_run();
  const Plan plan = plan_of_run(parts_, out_);
  const fs::path first = out_;
  run_with({"run.iterations=12", "run.batch=8", "run.seed=2", "run.threads=1",
            "container.target_size=30"},
           "aurora-csc-uniform-2");
  const auto one = load_source(first, {"checkpoint", 12}, plan.spec()).individuals.fitness;
  const auto two = load_source(out_, {"checkpoint", 12}, plan.spec()).individuals.fitness;
  ASSERT_NE(one, two);
  fs::copy(first / "checkpoint", root_ / "spare");
  std::atomic<bool> done = false;
  std::thread writer([&] {
    for (bool forth = true; !done; forth = !forth) {
      const fs::path fresh = forth ? out_ / "checkpoint" : root_ / "spare";
      write_directory(first / "checkpoint", [&](const fs::path& directory) {
        for (const auto& entry : fs::directory_iterator(fresh)) {
          fs::copy_file(entry.path(), directory / entry.path().filename());
        }
      });
    }
  });
  int refused = 0;
  for (int i = 0; i < 100; ++i) {
    try {
      const auto fitness = load_source(first, {"checkpoint", 12}, plan.spec()).individuals.fitness;
      EXPECT_TRUE(fitness == one || fitness == two);
    } catch (const Error&) {
      ++refused;  // it was replaced four times while it was read
    }
  }
  done = true;
  writer.join();
  EXPECT_LT(refused, 20);
}

TEST_F(Sources, HaveAStampThatChangesWhenTheyAreReplaced) {
  make_run();
  const Source source{"checkpoint", 12};
  const std::string before = stamp_of(out_, source);
  EXPECT_NE(before, "");
  EXPECT_EQ(stamp_of(out_, source), before);
  fs::copy(out_ / "checkpoint", out_ / "copy");
  fs::remove_all(out_ / "checkpoint");
  EXPECT_EQ(stamp_of(out_, source), "");
  fs::rename(out_ / "copy", out_ / "checkpoint");
  EXPECT_NE(stamp_of(out_, source), before);
}

TEST_F(Sources, OneRowIsReadByItself) {
  make_run();
  const SavedContainer whole = load_container(out_ / "container");
  for (const std::size_t row : {std::size_t{0}, whole.individuals.size() - 1}) {
    const SavedIndividual one = load_individual(out_ / "container", row);
    EXPECT_EQ(one.id, whole.individuals.ids[row]);
    EXPECT_EQ(one.sensory.shape(), whole.individuals.sensory.shape());
    EXPECT_TRUE(std::ranges::equal(one.sensory.view().bytes(0),
                                   whole.individuals.sensory.view().bytes(row)));
  }
  EXPECT_THROW(load_individual(out_ / "container", whole.individuals.size()), DataError);
  EXPECT_THROW(load_individual(out_ / "snapshots" / "000010", 0), DataError);
}

TEST_F(Sources, AreOpenedByTheirIteration) {
  make_run();
  EXPECT_EQ(open_repertoire(parts_, out_).source.name, "container");
  const Repertoire early = open_repertoire(parts_, out_, 5);
  EXPECT_EQ(early.source, (Source{"snapshots/000005", 5}));
  EXPECT_TRUE(early.notes.empty());
  try {
    open_repertoire(parts_, out_, 7);
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("it has 12, 12, 10, 5"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace aurora

// Every variant on the Maze: 200 iterations of small sizes, the same bits for any number of
// threads.
#include "aurora/algorithms/variants.hpp"
#include "run_fixture.hpp"

namespace aurora {
namespace {

struct Golden {
  const char* variant;
  const char* hash;
};

class EveryVariant : public RunFixture, public testing::WithParamInterface<Golden> {
 protected:
  RunSummary run_small(const char* threads) {
    return run_with({"run.iterations=200", "run.batch=16", "container.target_size=200",
                     "threshold.gain=2e-4", "encoder.epochs=3", threads},
                    GetParam().variant);
  }
};

// A change of these hashes is a change of results: it must be meant, and the commit says why.
TEST_P(EveryVariant, HasItsGoldenHashForAnyNumberOfThreads) {
  const RunSummary one = run_small("run.threads=1");
  EXPECT_EQ(one.status, RunStatus::finished);
  EXPECT_GT(one.container_size, 0U);
  EXPECT_GT(one.coverage, 5);
  EXPECT_EQ(one.container_hash, GetParam().hash);
  EXPECT_EQ(run_small("run.threads=3").container_hash, one.container_hash);
}

INSTANTIATE_TEST_SUITE_P(Maze, EveryVariant,
                         testing::Values(Golden{"aurora-csc-uniform-10", "cd8c45f8e6d0be97"},
                                         Golden{"aurora-csc-novelty-10", "6afa6c984df56a7d"},
                                         Golden{"aurora-csc-surprise-10", "ba247ad7884cf209"},
                                         Golden{"aurora-vat-uniform-10", "2410fec0a1df8558"},
                                         Golden{"aurora-vat-novelty-10", "4eec1839310859df"},
                                         Golden{"taxons-10", "89a73f6217a123ca"},
                                         Golden{"hc-csc-uniform", "80a1be904664e9bc"},
                                         Golden{"random-search", "7d50750cb0e27333"},
                                         Golden{"ns", "17c24b2faad8b0bc"},
                                         Golden{"aurora-pid-uniform-10", "2a1017a72405907e"}),
                         [](const auto& instance) {
                           std::string name = instance.param.variant;
                           std::erase(name, '-');
                           return name;
                         });

TEST(Variants, AreAllInTheTableAbove) {
  EXPECT_EQ(variants().size(), 10U);
}

}  // namespace
}  // namespace aurora

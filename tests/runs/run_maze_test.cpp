// A longer run on the Maze: what a search should look like from outside.

#include <cmath>
#include <sstream>

#include "run_fixture.hpp"

namespace aurora {
namespace {

class EveryVariant : public RunFixture, public testing::WithParamInterface<const char*> {};

TEST_P(EveryVariant, FindsMoreAndMoreAndGoesToItsTargetSize) {
  const RunSummary summary = run_with(
      {"run.iterations=150", "container.target_size=1000", "run.threads=2", "threshold.gain=5e-5"},
      GetParam());
  // A hundred iterations of random controllers fill about 20 % of the grid.
  EXPECT_GT(summary.metric("coverage"), 22);
  EXPECT_NEAR(static_cast<double>(summary.container_size), 1000, 250);

  std::istringstream rows(content(out_ / "metrics.csv"));
  std::string line;
  std::getline(rows, line);
  double first = -1, last = 0;
  while (std::getline(rows, line)) {
    std::vector<double> values;
    std::istringstream cells(line);
    for (std::string cell; std::getline(cells, cell, ',');) values.push_back(std::stod(cell));
    ASSERT_GE(values.size(), 9u);
    last = values[3];
    if (first < 0) first = last;
    EXPECT_GT(values[8], 0) << "the threshold";
    EXPECT_TRUE(std::isfinite(values[8]));
  }
  EXPECT_GT(last, 1.5 * first) << "coverage";
}

INSTANTIATE_TEST_SUITE_P(Maze, EveryVariant,
                         testing::Values("aurora-csc-uniform-10", "hc-csc-uniform"),
                         [](const auto& instance) {
                           std::string name = instance.param;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace aurora

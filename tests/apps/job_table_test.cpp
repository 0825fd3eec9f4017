#include "apps/aurora/job_table.hpp"

#include <gtest/gtest.h>

namespace aurora {
namespace {

const std::vector<Job> kJobs = {
    {"variants/maze-aurora-csc-uniform-10-seed3",
     "iteration 500/15000  left 1:02:03  coverage 12.3 %  size 4321/5000  1234 eval/s"},
    {"latent-space/maze-aurora-csc-uniform-2-seed1",
     "epoch 3/200  1.2 epochs/s  validation loss 0.1  left 0:12 at most"},
    {"variants/maze-ns-seed2", ""},
    {"variants/maze-ns-seed1", "process 12 on node7", true}};

TEST(AJobTable, HasRateCoverageAndTimeLeftInEveryWidth) {
  for (const std::size_t columns : {39U, 79U, 139U}) {
    const std::vector<std::string> lines = job_table(kJobs, columns);
    ASSERT_EQ(lines.size(), 5U);
    for (const std::string& line : lines) EXPECT_LE(line.size(), columns) << line;
    const auto has = [&](std::size_t line, const char* part) {
      return lines[line].find(part) != std::string::npos;
    };
    EXPECT_TRUE(has(0, "left") && has(0, "coverage") && has(0, "eval/s")) << lines[0];
    EXPECT_TRUE(has(1, "1:02:03") && has(1, "12.3 %") && has(1, "1234")) << lines[1];
    EXPECT_TRUE(lines[1].ends_with("-seed3")) << lines[1];
    EXPECT_EQ(has(1, "500/15000"), columns > 70) << lines[1];
    EXPECT_EQ(has(1, "variants/maze-"), columns > 100) << lines[1];
    EXPECT_TRUE(has(2, "epoch 3/200") && has(2, "0:12")) << lines[2];
    EXPECT_TRUE(has(3, "starting")) << lines[3];
    EXPECT_TRUE(has(4, "busy on node7")) << lines[4];
  }
}

TEST(AJobTable, FitsWhateverThereIs) {
  for (std::size_t columns = 1; columns < 200; ++columns) {
    for (const std::string& line : job_table(kJobs, columns)) EXPECT_LE(line.size(), columns);
  }
}

}  // namespace
}  // namespace aurora

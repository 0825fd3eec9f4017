#include "aurora/evaluation/mpi_launch.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace aurora {
namespace {

class Launch : public testing::Test {
 protected:
  Launch() { forget_mpi_launch(); }
  ~Launch() override { forget_mpi_launch(); }
};

TEST_F(Launch, WithoutMpirunThereIsOneRank) {
  const MpiLaunch launch = mpi_launch();
  EXPECT_EQ(launch.size, 1U);
  EXPECT_EQ(launch.rank, 0U);
  EXPECT_EQ(launch.local_size, 1U);
}

TEST_F(Launch, IsWhatMpirunSays) {
  setenv("OMPI_COMM_WORLD_SIZE", "12", 1);
  setenv("OMPI_COMM_WORLD_RANK", "7", 1);
  setenv("OMPI_COMM_WORLD_LOCAL_SIZE", "4", 1);
  setenv("OMPI_MCA_orte_bound_at_launch", "1", 1);
  const MpiLaunch launch = mpi_launch();
  EXPECT_EQ(launch.size, 12U);
  EXPECT_EQ(launch.rank, 7U);
  EXPECT_EQ(launch.local_size, 4U);
  EXPECT_TRUE(launch.bound);
  forget_mpi_launch();
  EXPECT_EQ(mpi_launch().size, 1U) << "what is started from here is no rank";
}

TEST_F(Launch, SaysWhetherARankCanBeMissed) {
  EXPECT_FALSE(mpi_launch().survives);
  for (const char* text : {"1", "true"}) {
    setenv("OMPI_MCA_mpi_ft_enable", text, 1);
    EXPECT_TRUE(mpi_launch().survives) << text;
  }
  for (const char* text : {"", "0", "false", "2x"}) {
    setenv("OMPI_MCA_mpi_ft_enable", text, 1);
    EXPECT_FALSE(mpi_launch().survives) << text;
  }
}

TEST_F(Launch, NonsenseIsNoLaunch) {
  for (const char* text : {"", "many", "-3", "0", "3x", "99999999999999999999999"}) {
    setenv("OMPI_COMM_WORLD_SIZE", text, 1);
    EXPECT_EQ(mpi_launch().size, 1U) << text;
  }
}

TEST_F(Launch, RanksShareTheProcessorsOfTheirMachine) {
  const auto threads = [](std::size_t local, bool bound, std::size_t allowed, std::size_t online) {
    return threads_of_rank({0, 64, local, bound}, allowed, online);
  };
  EXPECT_EQ(threads(8, false, 64, 64), 8U) << "not bound: all is shared";
  EXPECT_EQ(threads(8, false, 16, 64), 2U) << "and no more than the queue has given us";
  EXPECT_EQ(threads(8, true, 1, 64), 1U) << "bound to a core";
  EXPECT_EQ(threads(2, true, 32, 64), 32U) << "bound to a socket each";
  EXPECT_EQ(threads(8, true, 32, 64), 8U) << "four to a socket";
  EXPECT_EQ(threads(8, false, 2, 2), 1U) << "more ranks than processors";
  EXPECT_GE(threads_of_rank({}), 1U);
}

}  // namespace
}  // namespace aurora

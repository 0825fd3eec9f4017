#include "aurora/core/parallel.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

#include "aurora/core/errors.hpp"

namespace aurora {
namespace {

class ParallelFor : public testing::TestWithParam<std::size_t> {};

TEST_P(ParallelFor, VisitsEveryIndexOnceInChunksThatDoNotDependOnThreads) {
  Workers workers(GetParam());
  EXPECT_EQ(workers.threads(), GetParam());
  for (const std::size_t count : {0u, 1u, 7u, 8u, 9u, 1000u}) {
    std::vector<std::size_t> begin_of(count, count), visits(count, 0);
    workers.parallel_for(count, 8, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        begin_of[i] = begin;
        ++visits[i];
      }
    });
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_EQ(visits[i], 1u);
      EXPECT_EQ(begin_of[i], i / 8 * 8);
    }
  }
}

TEST_P(ParallelFor, ThrowsTheFailureOfTheLowestChunkAfterAllHaveRun) {
  Workers workers(GetParam());
  std::atomic<int> runs = 0;
  try {
    workers.parallel_for(100, 1, [&](std::size_t begin, std::size_t) {
      ++runs;
      if (begin % 10 == 7) throw std::runtime_error(std::to_string(begin));
    });
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "7");
  }
  EXPECT_EQ(runs, 100);
  // The workers live on.
  workers.parallel_for(3, 1, [&](std::size_t, std::size_t) { ++runs; });
  EXPECT_EQ(runs, 103);
}

TEST_P(ParallelFor, MayBeCalledFromInsideABody) {
  Workers workers(GetParam());
  std::atomic<int> sum = 0;
  workers.parallel_for(10, 1, [&](std::size_t, std::size_t) {
    workers.parallel_for(10, 1, [&](std::size_t, std::size_t) { ++sum; });
    workers.parallel_for(10, 1, [&](std::size_t, std::size_t) { ++sum; });
  });
  EXPECT_EQ(sum, 200);
}

TEST_P(ParallelFor, ManySmallCallsDoNotLoseWork) {
  Workers workers(GetParam());
  std::vector<int> values(64, 0);
  for (int call = 0; call < 2000; ++call) {
    workers.parallel_for(values.size(), 4, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) ++values[i];
    });
  }
  for (const int value : values) EXPECT_EQ(value, 2000);
}

INSTANTIATE_TEST_SUITE_P(Threads, ParallelFor, testing::Values(1, 2, 3, 8));

TEST(Workers, RefusesSillyNumbers) {
  EXPECT_THROW(Workers(0), UsageError);
  EXPECT_THROW(Workers(1'000'000), UsageError);
}

}  // namespace
}  // namespace aurora

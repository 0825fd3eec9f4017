#include "aurora/core/processors.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <stdlib.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

namespace aurora {
namespace {

namespace fs = std::filesystem;

/// Binds the thread of a test to its first processors, until the end of the block.
class Bound {
 public:
  explicit Bound(int count) {
    CPU_ZERO(&before_);
    EXPECT_EQ(sched_getaffinity(0, sizeof(before_), &before_), 0);
    cpu_set_t some;
    CPU_ZERO(&some);
    for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&some) < count; ++cpu) {
      if (CPU_ISSET(cpu, &before_)) CPU_SET(cpu, &some);
    }
    EXPECT_EQ(sched_setaffinity(0, sizeof(some), &some), 0);
  }
  ~Bound() { sched_setaffinity(0, sizeof(before_), &before_); }
  Bound(const Bound&) = delete;
  Bound& operator=(const Bound&) = delete;

 private:
  cpu_set_t before_;
};

/// Control groups as the system shows them.
class Groups : public testing::Test {
 protected:
  Groups() {
    std::string name = (fs::temp_directory_path() / "groups-XXXXXX").string();
    folder_ = mkdtemp(name.data());
    fs::create_directories(folder_ / "all");
  }
  ~Groups() override { fs::remove_all(folder_); }

  void own(const std::string& text) { std::ofstream(folder_ / "own") << text; }
  void limit(const std::string& group, const std::string& text) {
    fs::create_directories(folder_ / "all" / group);
    std::ofstream(folder_ / "all" / group / "cpu.max") << text;
  }
  std::size_t count() const { return processors({folder_ / "own", folder_ / "all"}); }

  /// How many there are if no group limits them.
  static std::size_t unlimited() { return processors({"/nowhere/at/all", "/nowhere/at/all"}); }

 private:
  fs::path folder_;
};

TEST_F(Groups, ThereAreThoseThatAProcessIsBoundTo) {
  const std::size_t all = unlimited();
  ASSERT_GE(all, 1U);
  {
    const Bound one(1);
    EXPECT_EQ(unlimited(), 1U);
    EXPECT_EQ(processors(), 1U);
  }
  EXPECT_EQ(unlimited(), all);
}

TEST_F(Groups, AGroupHasAsManyAsItMayUseRoundedUp) {
  own("0::/\n");
  const std::vector<std::pair<std::string, std::size_t>> limits = {
      {"100000 100000\n", 1},  {"50000 100000\n", 1},  {"1000 100000\n", 1},
      {"150000 100000\n", 2},  {"200000 100000\n", 2}, {"200001 100000\n", 3},
      {"40000000 100000", 400}};
  for (const auto& [text, most] : limits) {
    limit("", text);
    EXPECT_EQ(count(), std::min(unlimited(), most)) << text;
  }
}

TEST_F(Groups, WhatIsNoLimitLimitsNothing) {
  EXPECT_EQ(count(), unlimited());  // no files
  own("0::/\n");
  for (const char* text :
       {"max 100000\n", "", "\n", "0 100000", "-1 100000", "100000", "100000 0", "nan nan", "x"}) {
    limit("", text);
    EXPECT_EQ(count(), unlimited()) << text;
  }
}

TEST_F(Groups, AGroupHasNoMoreThanThoseThatItIsIn) {
  limit("slice/job/task", "max 100000\n");
  limit("slice/job", "max 100000\n");
  limit("slice", "100000 100000\n");
  limit("other", "100000 100000\n");
  own("12:cpu:/other\n1:name=systemd:/other\n0::/slice/job/task\n");
  EXPECT_EQ(count(), 1U);
  limit("slice", "max 100000\n");
  EXPECT_EQ(count(), unlimited());
  limit("slice/job/task", "90000 100000\n");
  EXPECT_EQ(count(), 1U);
}

TEST_F(Groups, OfOlderControlGroupsNothingIsKnown) {
  limit("other", "100000 100000\n");
  own("12:cpu:/other\n1:name=systemd:/other\n");
  EXPECT_EQ(count(), unlimited());
}

}  // namespace
}  // namespace aurora

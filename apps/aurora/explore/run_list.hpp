// The runs that are shown: those that were named, and those in folders that were named. Their
// numbers never change; runs that appear later are added at the end.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "apps/aurora/explore/live_run.hpp"

namespace aurora::explore {

class RunList {
 public:
  /// FileError if one of the places is not there.
  RunList(const Parts& parts, const std::vector<std::filesystem::path>& places);

  /// All runs; folders are looked through again every few seconds.
  std::vector<std::shared_ptr<LiveRun>> all();
  /// One by its number; null if there is none.
  std::shared_ptr<LiveRun> at(std::size_t number);

 private:
  void look(const std::filesystem::path& place, const std::filesystem::path& folder, int depth);

  const Parts& parts_;
  std::vector<std::filesystem::path> places_;
  std::mutex mutex_;
  std::chrono::steady_clock::time_point next_look_;
  std::size_t folders_ = 0;  // that were looked into this time
  std::set<std::filesystem::path> known_;
  std::vector<std::shared_ptr<LiveRun>> runs_;
};

}  // namespace aurora::explore

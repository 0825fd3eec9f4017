// Evaluations that went wrong, kept in the run directory: <out>/failures/.
//
//   genotypes.txt   each once, with its reason, as `aurora evaluate --genes` reads them
//   hanging.txt     those that took longer than they should
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <unordered_set>

#include "aurora/evaluation/guard.hpp"
#include "aurora/storage/files.hpp"

namespace aurora {

class Failures final : public FailureLog {
 public:
  /// `share` of the evaluations may fail, once there have been enough to tell. `warn` is for a line
  /// to the user; the first failure and every hanging evaluation are worth one.
  Failures(std::filesystem::path directory, double share,
           std::function<void(const std::string&)> warn);
  ~Failures() override { write(); }
  Failures(const Failures&) = delete;
  Failures& operator=(const Failures&) = delete;

  /// Evaluations that were asked for so far, for the share. What could not be written is tried
  /// again.
  void count(std::size_t evaluations) {
    evaluations_ += evaluations;
    write();
  }

  /// Error, with the reason, if too many have failed.
  void failed(std::span<const float> genotype, const std::string& reason) override;
  void hangs(MatrixView<const float> genotypes, double seconds) override;

 private:
  void keep(std::span<const float> genotype, const std::string& reason);
  void write();
  void append(const char* file, const std::string& text) const;

  std::filesystem::path directory_;
  double share_;
  std::function<void(const std::string&)> warn_;
  std::size_t evaluations_ = 0;
  std::size_t failures_ = 0;
  std::string unwritten_;  // for genotypes.txt
  bool warned_ = false;    // that nothing can be written
  /// The genotypes of genotypes.txt as its lines: what a resumed run evaluates again is there
  /// already.
  std::optional<std::unordered_set<std::string>> kept_;
};

}  // namespace aurora

// Checkpoints: all that a run needs to go on as if it had never stopped.
//
//   checkpoint/           the last complete state: manifest.json and .npy files
//   checkpoint.previous/  the one before, for the day on which the last one is damaged
//   checkpoint.damaged/   one that could not be read when the run was resumed
//
// They are written by write_directory(): at every moment one of the two is whole, whatever fails.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "aurora/algorithms/algorithm.hpp"
#include "aurora/runs/plan.hpp"
#include "aurora/runs/records.hpp"
#include "aurora/tasks/task.hpp"

namespace aurora {

/// Where the last one is, in a run directory.
inline constexpr const char* kLastCheckpoint = "checkpoint";

struct Checkpoint {
  std::string task;
  std::size_t task_version = 1;
  std::string task_spec;  // its fingerprint; empty if an older version wrote the checkpoint
  Settings settings;
  RunRecord record;
  AlgorithmState algorithm;
  std::string metrics;   // metrics.csv so far
  std::string training;  // encoder.csv so far
};

struct FoundCheckpoint {
  Checkpoint checkpoint;
  /// Set if <run>/checkpoint cannot be used and the previous one was taken: what is wrong with it.
  std::string damage;
};

/// The last checkpoint of a run that is whole, and that `take` takes; nothing if there never was
/// one. `take` throws DataError at a state that makes no sense, however right its checksums are;
/// the previous one is tried then, as if the last one could not be read. It may move the
/// algorithm's state away. DataError if there are checkpoints but none of them is any good, or if
/// one is of another format version; a UsageError of `take` is thrown on.
std::optional<FoundCheckpoint> find_checkpoint(const std::filesystem::path& run,
                                               const std::function<void(Checkpoint&)>& take = {});

/// Single things of a checkpoint directory, for who only looks: the iteration after which it was
/// written; its container, without sensory data and in ascending order of ids; its encoder's
/// arrays, none if there is no encoder. DataError if it cannot be read or the individuals make no
/// sense.
std::size_t checkpoint_iteration(const std::filesystem::path& directory);
Individuals load_checkpoint_container(const std::filesystem::path& directory);
std::vector<NamedArray> load_checkpoint_encoder(const std::filesystem::path& directory);

/// Renames a damaged <run>/checkpoint to checkpoint.damaged, lest it take the place of the previous
/// one.
void set_damaged_aside(const std::filesystem::path& run);

/// UsageError, with what differs, if a run of this plan cannot go on from a checkpoint.
void check_resumable(const Parts& parts, const Checkpoint& checkpoint, const Plan& plan);

/// Writes checkpoints on a thread of its own, one at a time, from a copy that it keeps until then.
/// The run pays for the copying alone. Sensory data is not copied: the rows of a container never
/// change, and one that the run lets go lives until it is written.
class CheckpointWriter {
 public:
  /// `check` throws if <run> is no longer the directory of this run; it is called on the thread.
  explicit CheckpointWriter(
      std::filesystem::path run, std::function<void()> check = [] {})
      : run_(std::move(run)), check_(std::move(check)) {}
  ~CheckpointWriter() { wait(); }
  CheckpointWriter(const CheckpointWriter&) = delete;
  CheckpointWriter& operator=(const CheckpointWriter&) = delete;

  /// False while one is being written.
  bool idle() const { return !busy_; }
  /// The copy, to be filled while the writer is idle. Its memory is given back when it is written.
  Checkpoint& copy() { return copy_; }
  /// Writes the copy, with the tables' first bytes, which are what they hold now.
  void start(std::uint64_t metrics_bytes, std::uint64_t training_bytes);
  void wait();
  /// Whether the last one was written, and why not; nothing if that was asked before.
  struct Outcome {
    std::size_t iteration = 0;
    std::string error;  // empty: it was
  };
  std::optional<Outcome> outcome();

 private:
  void write(std::uint64_t metrics_bytes, std::uint64_t training_bytes);

  std::filesystem::path run_;
  std::function<void()> check_;
  Checkpoint copy_;
  std::atomic<bool> busy_ = false;
  std::optional<Outcome> outcome_;
  std::thread thread_;
};

}  // namespace aurora

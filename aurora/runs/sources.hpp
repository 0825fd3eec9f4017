// Where the individuals of a run can be read: its container, its snapshots, its last checkpoint.
// A run that is going on replaces the last of these every minute, and nobody is locked out: what is
// replaced while it is read is read again.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "aurora/core/task_spec.hpp"
#include "aurora/encoders/encoder.hpp"
#include "aurora/runs/run_directory.hpp"

namespace aurora {

struct Source {
  std::string name;           // relative to the run: "container", "snapshots/000500", "checkpoint"
  std::size_t iteration = 0;  // after which it was written

  bool is_checkpoint() const { return name.find("checkpoint") != std::string::npos; }
  friend bool operator==(const Source&, const Source&) = default;
};

/// All that there are, the newest first; of equally new ones the container, then the snapshot, then
/// the checkpoint. That something is listed does not say that it is whole.
std::vector<Source> sources_of(const std::filesystem::path& run);

/// Whether sensory data is read too. Checkpoints are always read without: theirs is large.
enum class SensoryWanted { yes, no };

/// Reads the individuals, in ascending order of ids. DataError as load_container() has it.
SavedContainer load_source(const std::filesystem::path& run, const Source& source,
                           const TaskSpec& spec, SensoryWanted sensory = SensoryWanted::yes);

/// The encoder's arrays that belong to a source: those of the checkpoint itself; of anything else
/// those in encoder/ or, while there are none, those of the last checkpoint. None if there is none.
std::vector<NamedArray> load_encoder_of(const std::filesystem::path& run, const Source& source);

/// A text that is another one as soon as a source is replaced; empty if it is gone. Cheap.
std::string stamp_of(const std::filesystem::path& run, const Source& source);

}  // namespace aurora

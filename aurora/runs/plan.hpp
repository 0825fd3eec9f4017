// A plan: everything that a run is, complete and checked; nothing behind it refuses a mix.
//
// What the user says is laid on what the variant says, that on the task's defaults, and those on
// the parts' own: parts < task < variant < a TOML file < KEY=VALUE. Keys, ranges, help and refusals
// come from the parts (core/part.hpp); the few that belong to no part stand in plan.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aurora/core/names.hpp"
#include "aurora/runs/parts.hpp"

namespace aurora {

/// Where descriptors come from: an encoder, or the first two values of the ground truth.
enum class DescriptorKind { learned, hand_coded };

template <>
struct Names<DescriptorKind> {
  static constexpr std::pair<DescriptorKind, std::string_view> entries[] = {
      {DescriptorKind::learned, "learned"}, {DescriptorKind::hand_coded, "hand-coded"}};
};

/// Settings that belong to no part.
struct RunSettings {
  std::size_t iterations = 1000;
  std::size_t batch = 128;  // B
  std::size_t seed = 1;
  std::size_t threads = 1;           // does not change any result
  std::size_t log_every = 10;        // iterations between two rows of metrics.csv
  std::size_t snapshot_every = 500;  // iterations between two snapshots; 0: none
  double checkpoint_seconds = 60;    // between two checkpoints; 0: only at the end
  double failure_share = 0.5;        // of the evaluations; a run with more stops
  double evaluation_seconds = 60;    // after which an evaluation is reported as hanging
  DescriptorKind descriptor = DescriptorKind::learned;
  std::size_t dimension = 10;             // n, of learned descriptors
  std::size_t encoder_step = 10;          // T_E: updates at T_E, 3 T_E, 6 T_E, 10 T_E, ...
  std::size_t target_size = 1000;         // N; of cells: their number
  std::vector<std::string> metrics_also;  // besides the standard ones and the task's
  std::string label;                      // what reports call it; empty: what it departs in
};

/// A part that was chosen, and the values of its options.
template <class EntryType>
struct Chosen {
  std::shared_ptr<const EntryType> entry;
  Values values;

  template <class Context>
  auto make(Context& context) const {
    return entry->make(values, context);
  }
  /// The value of an option that is a number; nothing if the part has no such option.
  std::optional<std::uint64_t> integer(std::string_view option) const {
    const auto value = values.find(option);
    if (value == values.end()) return std::nullopt;
    return integer_of(value->second);
  }
  /// Changes an option that is a number; nothing happens if the part has no such option.
  void set(std::string_view option, std::uint64_t value) {
    const auto found = values.find(option);
    if (found != values.end()) found->second.text = std::to_string(value);
  }
};

/// Every key with its value as TOML.
using Settings = std::vector<std::pair<std::string, std::string>>;

struct Plan {
  std::string variant;
  RunSettings run;
  Chosen<TaskEntry> task_part;
  std::shared_ptr<const Task> task;
  Chosen<LoopEntry> loop;
  std::optional<Chosen<EncoderEntry>> encoder;      // none if descriptors are hand-coded
  std::optional<Chosen<ContainerEntry>> container;  // none if the loop keeps one of its own
  std::optional<Chosen<ThresholdEntry>> threshold;  // none if the container has no use for it
  Chosen<SelectorEntry> selector;
  std::optional<Chosen<VariationEntry>> variation;  // none if every genotype is drawn afresh
  std::vector<Chosen<MetricEntry>> metrics;
  Chosen<EvaluatorEntry> evaluator;
  std::vector<std::string> notes;       // what the user should know
  std::vector<std::string> departures;  // from the variant: "KEY = VALUE instead of VALUE"
  std::vector<std::string> idle;        // keys of its parts that mean nothing in this mix

  const TaskSpec& spec() const { return task->spec(); }
  std::size_t descriptor_size() const;

  /// The parts at work. The workers must outlive what is made.
  std::unique_ptr<Algorithm> make_loop(Workers& workers, const Watch& watch = {}) const;
  /// Null if there is none.
  std::unique_ptr<Container> make_container(Workers& workers, const Watch& watch = {}) const;
  std::unique_ptr<Encoder> make_encoder(std::size_t dimension, Stream& stream) const;
  std::vector<std::unique_ptr<Metric>> make_metrics() const;
  /// `warn` is called from any thread.
  std::unique_ptr<Evaluator> make_evaluator(
      Workers& workers,
      const std::function<void(const std::string&)>& warn = [](const std::string&) {}) const;

  /// Every key that matters to this run.
  Settings settings() const;
  /// The same as a TOML file; resolving that file gives an equal plan again.
  std::string toml() const;
};

/// What the user said, before it is checked. Task and variant can also be said by the keys run.task
/// and run.variant, in the file or as an assignment (the name `task` itself is the section of the
/// task's own options, task.NAME); what stands here goes first.
struct PlanRequest {
  std::optional<std::string> task;
  std::optional<std::string> variant;  // nowhere: aurora-csc-uniform-10
  std::optional<std::filesystem::path> file;
  /// The file is the config.toml of a run: complete, so that its variant need not be known, and
  /// perhaps of an older version, so that keys which do not matter are no news.
  bool file_is_of_run = false;
  std::vector<std::string> assignments;  // KEY=VALUE; of two for the same key the last one counts
  /// The same for several runs at once: a key of a part that is not in the mix is passed over. They
  /// go before the file and behind the assignments.
  std::vector<std::string> where_they_matter;
};

/// Resolves a request. Threads not said are those of the machine. Unknown keys, tasks, variants and
/// parts name the nearest valid one, values out of range name the range, mixes that make no sense
/// say why, and so does a key of a part that is not in the mix, and a request without a task
/// (UsageError); a file that cannot be read or parsed is a FileError or DataError with its line.
Plan resolve(const Parts& parts, const PlanRequest& request);

/// The plan of a run directory, from its config.toml. FileError if there is none.
Plan plan_of_run(const Parts& parts, const std::filesystem::path& run);

/// UsageError with the key and both values if a run with the settings `saved` cannot go on with
/// `plan`. How long it runs, on what, and how often it writes may change. A key that is not saved
/// means its default: the run was begun before there was such a key.
void check_same_run(const Parts& parts, const Settings& saved, const Plan& plan);

/// A key as `aurora list options` shows it.
struct KeyHelp {
  std::string key;
  std::string fallback;  // as TOML
  std::string values;    // range or allowed names
  std::string help;
  std::string part;  // "threshold.kind=csc"; empty if it belongs to no part
};
std::vector<KeyHelp> key_help(const Parts& parts);

}  // namespace aurora

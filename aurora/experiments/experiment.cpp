#include "aurora/experiments/experiment.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

#include <algorithm>
#include <map>
#include <set>

#include "aurora/core/errors.hpp"
#include "aurora/runs/internal/variant_table.hpp"
#include "aurora/runs/retrain.hpp"
#include "aurora/runs/run_directory.hpp"
#include "aurora/storage/internal/toml.hpp"
#include "aurora/storage/paths.hpp"

namespace aurora {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxRuns = 1'000'000;

/// What makes runs cost alike: the task, its options, and the encoder.
std::string kind_of(const Plan& plan) {
  std::string kind = fmt::format("{}/{}", plan.spec().name,
                                 plan.encoder ? plan.encoder->entry->name : "hand-coded");
  for (const auto& [key, value] : plan.settings()) {
    if (key.starts_with("task.")) kind += fmt::format(" {}={}", key, value);
  }
  return kind;
}

/// One key with one or several values.
using Choices = std::vector<std::pair<std::string, std::vector<std::string>>>;

class Reader {
 public:
  Reader(const Parts& parts, const fs::path& file)
      : parts_(parts), file_(file.string()), table_(read_toml(file)) {}

  Experiment plan() {
    allow(table_, {"replications", "first_seed", "settings", "study", "variant"}, "the file");
    add_variants_of_table(parts_.variants, table_, file_);
    const std::size_t replications = whole(table_, "replications", 1);
    const std::size_t first_seed = whole(table_, "first_seed", 1);
    const Choices settings = choices(table_, "settings", false);
    const toml::array* studies = table_["study"].as_array();
    if (studies == nullptr || studies->empty()) wrong("has no [[study]]");
    std::size_t number = 0;
    for (const toml::node& node : *studies) {
      const toml::table* study = node.as_table();
      if (study == nullptr) wrong("'study' must be a [[study]]");
      add_study(*study, ++number, replications, first_seed, settings);
    }
    return {std::move(runs_), table_.contains("variant")};
  }

 private:
  [[noreturn]] void wrong(const std::string& what) const {
    throw UsageError(fmt::format("'{}' {}", file_, what));
  }

  void allow(const toml::table& table, const std::vector<std::string>& keys,
             const std::string& where) const {
    for (const auto& [key, node] : table) {
      const std::string name(key.str());
      if (std::ranges::find(keys, name) == keys.end()) {
        wrong(fmt::format("has '{}' in {}; known there: {}", name, where, fmt::join(keys, ", ")));
      }
    }
  }

  std::size_t whole(const toml::table& table, const char* key, std::size_t fallback) const {
    const toml::node* node = table.get(key);
    if (node == nullptr) return fallback;
    const auto value = node->value_exact<std::int64_t>();
    if (!value || *value < 1) wrong(fmt::format("needs a whole number above 0 for '{}'", key));
    return static_cast<std::size_t>(*value);
  }

  bool flag(const toml::table& table, const char* key) const {
    const toml::node* node = table.get(key);
    if (node == nullptr) return false;
    const auto value = node->value_exact<bool>();
    if (!value) wrong(fmt::format("needs true or false for '{}'", key));
    return *value;
  }

  std::vector<std::string> names(const toml::table& table, const char* key) const {
    std::vector<std::string> result;
    const toml::array* array = table[key].as_array();
    if (array != nullptr) {
      for (const toml::node& node : *array) {
        const auto text = node.value_exact<std::string>();
        if (!text) wrong(fmt::format("has something that is no text in '{}'", key));
        result.push_back(*text);
      }
    }
    if (result.empty()) wrong(fmt::format("has a study without '{}', a list of names", key));
    return result;
  }

  Choices choices(const toml::table& table, const char* key, bool lists) const {
    Choices result;
    const toml::node* node = table.get(key);
    if (node == nullptr) return result;
    const toml::table* inner = node->as_table();
    if (inner == nullptr) wrong(fmt::format("has a '{}' that is no table", key));
    for (const TomlSetting& setting : flatten(*inner)) {
      if (!lists) {
        result.push_back({setting.key, {setting.value.text}});
        continue;
      }
      const toml::array* array = setting.node->as_array();
      if (array == nullptr || array->empty()) {
        wrong(fmt::format("needs a list of values for '{}' in a sweep", setting.key));
      }
      std::vector<std::string> values;
      for (const toml::node& value : *array) values.push_back(value_of(value).text);
      result.push_back({setting.key, values});
    }
    return result;
  }

  void add_study(const toml::table& study, std::size_t number, std::size_t replications,
                 std::size_t first_seed, const Choices& common) {
    allow(study,
          {"name", "label", "tasks", "variants", "replications", "settings", "sweep", "retrain"},
          "a [[study]]");
    const bool retrain = flag(study, "retrain");
    const std::string name =
        study["name"].value<std::string>().value_or("study" + std::to_string(number));
    if (name.empty() || name.find('/') != std::string::npos || name.starts_with('.')) {
      wrong(fmt::format("has a study called '{}'; a name is that of a folder", name));
    }
    Choices settings = common;
    const Choices own = choices(study, "settings", false);
    settings.insert(settings.end(), own.begin(), own.end());
    const Choices sweep = choices(study, "sweep", true);
    const std::size_t seeds = whole(study, "replications", replications);

    std::size_t combinations = 1;
    double all = static_cast<double>(seeds) * static_cast<double>(names(study, "tasks").size()) *
                 static_cast<double>(names(study, "variants").size());
    for (const auto& [key, values] : sweep) {
      combinations *= values.size();
      all *= static_cast<double>(values.size());
    }
    // Said before they are planned one by one.
    if (all > static_cast<double>(kMaxRuns)) {
      wrong(fmt::format("describes {:.0f} runs in study '{}'; at most {} are planned", all, name,
                        kMaxRuns));
    }
    if (const toml::node* label = study.get("label")) {
      const auto text = label->value_exact<std::string>();
      if (!text) wrong("needs a text for 'label'");
      if (combinations * names(study, "variants").size() > 1) {
        wrong(
            fmt::format("has the label '{}' in a study of several kinds of runs; it needs one "
                        "variant and no sweep",
                        *text));
      }
      settings.push_back({"run.label", {*text}});
    }
    std::vector<std::string> shared;
    for (const auto& [key, values] : settings) shared.push_back(key + "=" + values[0]);
    for (std::size_t replication = 1; replication <= seeds; ++replication) {
      const std::size_t seed = first_seed + replication - 1;
      for (const std::string& task : names(study, "tasks")) {
        for (const std::string& variant : names(study, "variants")) {
          for (std::size_t c = 0; c < combinations; ++c) {
            const auto [assignments, label] = combination(sweep, c);
            PlannedRun run;
            run.name = fmt::format("{}/{}-{}{}-seed{}", name, task, variant, label, seed);
            run.assignments = assignments;
            run.retrain = retrain;
            run.replication = replication;
            add(std::move(run), task, variant, shared, seed);
          }
        }
      }
    }
  }

  /// One value of each key of a sweep, as assignments and as a part of a name.
  static std::pair<std::vector<std::string>, std::string> combination(const Choices& sweep,
                                                                      std::size_t number) {
    std::vector<std::string> assignments;
    std::string label;
    for (const auto& [key, values] : sweep) {
      const std::string& value = values[number % values.size()];
      number /= values.size();
      assignments.push_back(fmt::format("{}={}", key, value));
      label += fmt::format("-{}={}", key.substr(key.rfind('.') + 1), value);
    }
    return {assignments, label};
  }

  /// A run that is not planned yet.
  void add(PlannedRun run, const std::string& task, const std::string& variant,
           const std::vector<std::string>& shared, std::size_t seed) {
    PlanRequest request;
    request.task = task;
    request.variant = variant;
    request.where_they_matter = shared;
    request.assignments = run.assignments;
    request.assignments.push_back("run.seed=" + std::to_string(seed));
    request.assignments.push_back("run.threads=1");
    try {
      run.plan = resolve(parts_, request);
    } catch (const UsageError& error) {
      throw UsageError(fmt::format("'{}', run {}: {}", file_, run.name, error.what()));
    }
    run.kind = kind_of(run.plan);
    if (run.retrain && !run.plan.encoder) {
      wrong(
          fmt::format("asks for run {} to be re-trained, but its descriptors are hand-coded: "
                      "there is no encoder; leave '{}' out of a study with retrain = true",
                      run.name, variant));
    }
    if (const auto [same, fresh] = known_.try_emplace(run.plan.toml(), runs_.size()); !fresh) {
      runs_[same->second].retrain |= run.retrain;
      return;
    }
    if (!names_.insert(run.name).second) {
      wrong(fmt::format("describes two different runs '{}'", run.name));
    }
    if (runs_.size() == kMaxRuns) wrong(fmt::format("describes more than {} runs", kMaxRuns));
    // Who runs it alone is told what matters to it.
    std::set<std::string> keys;
    for (const auto& [key, value] : run.plan.settings()) keys.insert(key);
    std::vector<std::string> all;
    for (const std::string& text : shared) {
      if (keys.contains(parse_assignment(text).first)) all.push_back(text);
    }
    run.assignments.insert(run.assignments.begin(), all.begin(), all.end());
    runs_.push_back(std::move(run));
  }

  Parts parts_;  // ours, with the variants of the file
  std::string file_;
  toml::table table_;
  std::map<std::string, std::size_t> known_;  // configurations, and where they stand in runs_
  std::set<std::string> names_;
  std::vector<PlannedRun> runs_;
};

}  // namespace

Experiment plan_experiment(const Parts& parts, const fs::path& file) {
  return Reader(parts, file).plan();
}

void keep_only(std::vector<PlannedRun>& runs, const std::vector<std::string>& patterns) {
  std::set<std::string> kept;
  for (const std::string& pattern : patterns) {
    bool fits_one = false;
    for (const PlannedRun& run : runs) {
      if (fnmatch(pattern.c_str(), run.name.c_str(), 0) != 0) continue;
      fits_one = true;
      kept.insert(run.name);
    }
    if (fits_one) continue;
    throw UsageError(
        fmt::format("no run of the study is called '{}'; they have names like '{}', "
                    "of which a pattern may leave out parts with *",
                    pattern, runs.front().name));
  }
  std::erase_if(runs, [&](const PlannedRun& run) { return !kept.contains(run.name); });
}

RunProgress progress_of(const Parts& parts, const PlannedRun& run, const fs::path& folder) {
  if (!path_exists(folder / "config.toml")) return RunProgress::missing;
  PlanRequest there;
  there.file = folder / "config.toml";
  there.file_is_of_run = true;
  check_same_run(parts, resolve(parts, there).settings(), run.plan);
  if (!path_exists(folder / "run.json")) return RunProgress::unfinished;
  const RunSummary summary = read_summary(folder / "run.json");
  const bool whole =
      summary.status == RunStatus::finished && summary.iterations >= run.plan.run.iterations;
  if (!whole) return RunProgress::unfinished;
  if (!run.retrain) return RunProgress::finished;
  const bool retrained =
      is_digest(folder) ? directory_exists(folder / "retrained") : is_retrained(folder);
  return retrained ? RunProgress::finished : RunProgress::to_retrain;
}

}  // namespace aurora

#include "aurora/runs/experiment.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <map>
#include <set>
#include <sstream>

#include "aurora/core/errors.hpp"
#include "aurora/runs/internal/toml.hpp"
#include "aurora/runs/retrain.hpp"
#include "aurora/runs/run_directory.hpp"

namespace aurora {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxRuns = 1'000'000;

/// One key with one or several values.
using Choices = std::vector<std::pair<std::string, std::vector<std::string>>>;

class Reader {
 public:
  Reader(const TaskRegistry& tasks, const fs::path& file)
      : tasks_(tasks), file_(file.string()), table_(read_toml(file)) {}

  std::vector<PlannedRun> plan() {
    allow(table_, {"replications", "first_seed", "settings", "study"}, "the file");
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
    return std::move(runs_);
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

  /// A value as KEY=VALUE has it.
  static std::string text_of(const toml::node& node) {
    if (const auto text = node.value_exact<std::string>()) return *text;
    if (const auto number = node.value_exact<double>()) return fmt::to_string(*number);
    std::ostringstream out;
    node.visit([&](const auto& value) { out << value; });
    return out.str();
  }

  void flatten(const toml::table& table, const std::string& prefix, bool lists,
               Choices& result) const {
    for (const auto& [name, node] : table) {
      const std::string key = prefix + std::string(name.str());
      if (const toml::table* inner = node.as_table()) {
        flatten(*inner, key + ".", lists, result);
      } else if (!lists) {
        result.push_back({key, {text_of(node)}});
      } else {
        const toml::array* array = node.as_array();
        if (array == nullptr || array->empty()) {
          wrong(fmt::format("needs a list of values for '{}' in a sweep", key));
        }
        std::vector<std::string> values;
        for (const toml::node& value : *array) values.push_back(text_of(value));
        result.push_back({key, values});
      }
    }
  }

  Choices choices(const toml::table& table, const char* key, bool lists) const {
    Choices result;
    const toml::node* node = table.get(key);
    if (node == nullptr) return result;
    const toml::table* inner = node->as_table();
    if (inner == nullptr) wrong(fmt::format("has a '{}' that is no table", key));
    flatten(*inner, "", lists, result);
    return result;
  }

  void add_study(const toml::table& study, std::size_t number, std::size_t replications,
                 std::size_t first_seed, const Choices& common) {
    allow(study, {"name", "tasks", "variants", "replications", "settings", "sweep", "retrain"},
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
    for (const auto& [key, values] : sweep) combinations *= values.size();
    for (const std::string& task : names(study, "tasks")) {
      for (const std::string& variant : names(study, "variants")) {
        for (std::size_t c = 0; c < combinations; ++c) {
          std::vector<std::string> assignments;
          for (const auto& [key, values] : settings) assignments.push_back(key + "=" + values[0]);
          std::string label;
          std::size_t rest = c;
          for (const auto& [key, values] : sweep) {
            const std::string& value = values[rest % values.size()];
            rest /= values.size();
            assignments.push_back(fmt::format("{}={}", key, value));
            label += fmt::format("-{}={}", key.substr(key.rfind('.') + 1), value);
          }
          for (std::size_t seed = first_seed; seed < first_seed + seeds; ++seed) {
            add(fmt::format("{}/{}-{}{}-seed{}", name, task, variant, label, seed), task, variant,
                assignments, seed, retrain);
          }
        }
      }
    }
  }

  void add(const std::string& name, const std::string& task, const std::string& variant,
           std::vector<std::string> assignments, std::size_t seed, bool retrain) {
    ConfigRequest request;
    request.task = task;
    request.variant = variant;
    request.assignments = assignments;
    request.assignments.push_back("run.seed=" + std::to_string(seed));
    request.assignments.push_back("run.threads=1");
    RunConfig config;
    try {
      config = resolve(tasks_, request);
    } catch (const UsageError& error) {
      throw UsageError(fmt::format("'{}', run {}: {}", file_, name, error.what()));
    }
    if (retrain && config.algorithm.descriptor != DescriptorKind::learned) {
      wrong(
          fmt::format("asks for run {} to be re-trained, but its descriptors are hand-coded: "
                      "there is no encoder; leave '{}' out of a study with retrain = true",
                      name, variant));
    }
    if (const auto [same, fresh] = known_.try_emplace(to_toml(config), runs_.size()); !fresh) {
      runs_[same->second].retrain |= retrain;
      return;
    }
    if (!names_.insert(name).second) wrong(fmt::format("describes two different runs '{}'", name));
    if (runs_.size() == kMaxRuns) wrong(fmt::format("describes more than {} runs", kMaxRuns));
    runs_.push_back({name, std::move(config), std::move(assignments), retrain});
  }

  const TaskRegistry& tasks_;
  std::string file_;
  toml::table table_;
  std::map<std::string, std::size_t> known_;  // configurations, and where they stand in runs_
  std::set<std::string> names_;
  std::vector<PlannedRun> runs_;
};

/// A word as a shell reads it.
std::string shell_word(const std::string& word) {
  const auto plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::strchr("-_./=,:+", c) != nullptr;
  };
  if (!word.empty() && std::ranges::all_of(word, plain)) return word;
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace

std::vector<PlannedRun> plan_experiment(const TaskRegistry& tasks, const fs::path& file) {
  return Reader(tasks, file).plan();
}

RunProgress progress_of(const TaskRegistry& tasks, const PlannedRun& run, const fs::path& folder) {
  if (!fs::exists(folder / "config.toml")) return RunProgress::missing;
  check_same_run(settings_of(config_of_run(tasks, folder)), run.config);
  if (!fs::exists(folder / "run.json")) return RunProgress::unfinished;
  const RunSummary summary = read_summary(folder / "run.json");
  const bool whole =
      summary.status == RunStatus::finished && summary.iterations >= run.config.iterations;
  if (!whole) return RunProgress::unfinished;
  return run.retrain && !is_retrained(folder) ? RunProgress::to_retrain : RunProgress::finished;
}

std::vector<std::string> command_of(const PlannedRun& run, const fs::path& folder,
                                    std::size_t threads) {
  std::vector<std::string> words{"run",       run.config.task,
                                 "--variant", run.config.variant,
                                 "--seed",    std::to_string(run.config.algorithm.seed),
                                 "--threads", std::to_string(threads),
                                 "--resume",  "--quiet",
                                 "--out",     folder.string()};
  words.insert(words.end(), run.assignments.begin(), run.assignments.end());
  return words;
}

std::vector<std::string> retrain_command(const fs::path& folder, std::size_t threads) {
  // What is there is of an earlier container, or it would not be asked for.
  return {"retrain", folder.string(), "--threads", std::to_string(threads), "--force"};
}

std::string slurm_script(const std::vector<PlannedRun>& runs, const fs::path& out,
                         const std::string& program, std::size_t threads) {
  std::string text = fmt::format(
      "#!/bin/bash\n"
      "# {} runs; submit with sbatch, as often as the queue cuts it off: finished runs are left\n"
      "# alone, the others go on from their last checkpoint.\n"
      "#SBATCH --job-name=aurora\n"
      "#SBATCH --array=0-{}\n"
      "#SBATCH --cpus-per-task={}\n"
      "#SBATCH --mem=4G\n"
      "#SBATCH --time=24:00:00\n"
      "#SBATCH --signal=TERM@120\n"
      "\n"
      "commands=(\n",
      runs.size(), runs.empty() ? 0 : runs.size() - 1, threads);
  for (const PlannedRun& run : runs) {
    const auto line = [&](const std::vector<std::string>& words) {
      std::string all = shell_word(program);
      for (const std::string& word : words) all += " " + shell_word(word);
      return all;
    };
    std::string command = line(command_of(run, out / run.name, threads));
    if (run.retrain) command += " && exec " + line(retrain_command(out / run.name, threads));
    text += "  " + shell_word(run.retrain ? command : "exec " + command) + "\n";
  }
  text += ")\n\neval \"${commands[$SLURM_ARRAY_TASK_ID]}\"\n";
  return text;
}

}  // namespace aurora

// aurora list: the tasks, variants and options that the program knows.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

#include "apps/aurora/commands.hpp"
#include "aurora/algorithms/variants.hpp"
#include "aurora/core/names.hpp"
#include "aurora/runs/config.hpp"

namespace aurora {
namespace {

using Rows = std::vector<std::vector<std::string>>;

/// Rows of text with columns under each other; the last column is as long as it is.
std::string aligned(const Rows& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows) {
    text += "  ";
    for (std::size_t i = 0; i + 1 < row.size(); ++i) {
      text += fmt::format("{:<{}}  ", row[i], widths[i]);
    }
    text += row.back() + "\n";
  }
  return text;
}

std::string describe(const TaskSpec& spec) {
  std::vector<std::string> axes;
  for (const Axis& axis : spec.ground_truth) axes.push_back(axis.name);
  return fmt::format("{} genes; sensory data {}; ground truth {}", spec.genotype_size,
                     describe(spec.sensory), fmt::join(axes, ", "));
}

std::string task_text(const TaskRegistry& tasks, bool full) {
  Rows rows;
  for (const TaskEntry& entry : tasks.entries()) {
    const bool missing = !entry.missing.empty();
    rows.push_back({entry.name, missing ? "not in this build: " + entry.missing : entry.summary});
    if (!full) continue;
    if (!missing) rows.push_back({"", describe(tasks.spec(entry.name))});
    for (const TaskOption& option : entry.options) {
      rows.push_back({"", fmt::format("task.{}: {} ({}; {} unless said)", option.name, option.help,
                                      fmt::join(option.values, ", "), option.values.front())});
    }
  }
  return aligned(rows);
}

std::string variant_text(bool full) {
  Rows rows;
  if (full) {
    rows.push_back({"name", "loop", "descriptor", "container", "threshold", "selection", "paper",
                    "what it is"});
  }
  for (const VariantEntry& entry : variants()) {
    if (full) {
      rows.push_back({entry.pattern, entry.algorithm, entry.descriptor, entry.container,
                      entry.threshold, entry.selection, entry.section, entry.summary});
    } else {
      rows.push_back({entry.pattern, entry.summary});
    }
  }
  std::string text = aligned(rows);
  if (full) {
    text +=
        "\nn is the dimension of the descriptor, 10 unless said: aurora-csc-uniform-5.\n"
        "Any mix: algorithm.kind, descriptor.kind, container.kind, threshold.kind, "
        "selection.kind.\n";
  }
  return text;
}

std::string option_text(bool full) {
  Rows rows;
  for (const OptionHelp& option : option_help()) {
    if (full) {
      rows.push_back({option.key, option.help, option.values});
    } else {
      rows.push_back({option.key, option.help});
    }
  }
  rows.push_back({"task.NAME", "the task's own options (aurora list tasks)"});
  std::string text = aligned(rows);
  if (full) {
    text +=
        "\nOn the command line as KEY=VALUE, in a TOML file (aurora run --config FILE) as\n"
        "  [container]\n"
        "  target_size = 2000\n";
  }
  return text;
}

int act(const std::string& what, const TaskRegistry& tasks) {
  if (what.empty()) {
    print("Tasks\n" + task_text(tasks, false) + "\nVariants\n" + variant_text(false) +
          "\nOptions\n" + option_text(false));
  } else if (what == "tasks") {
    print(task_text(tasks, true));
  } else if (what == "variants") {
    print(variant_text(true));
  } else if (what == "options") {
    print(option_text(true));
  } else {
    throw_unknown("list of", what, std::vector<std::string>{"tasks", "variants", "options"});
  }
  return 0;
}

}  // namespace

Command add_list(CLI::App& program, const TaskRegistry& tasks) {
  const auto what = std::make_shared<std::string>();
  CLI::App* app = program.add_subcommand("list", "Show the tasks, variants and options there are");
  app->add_option("WHAT", *what, "tasks, variants or options; all of them, briefly, unless said")
      ->type_name("");
  app->footer(
      "Examples:\n"
      "  aurora list\n"
      "  aurora list variants");
  return {app, [what, &tasks] { return act(*what, tasks); }};
}

}  // namespace aurora

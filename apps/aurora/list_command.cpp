// aurora list: the tasks, variants, parts and options that the program knows.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <memory>

#include "apps/aurora/commands.hpp"
#include "aurora/core/errors.hpp"
#include "aurora/core/names.hpp"
#include "aurora/runs/plan.hpp"

namespace aurora {
namespace {

using Rows = std::vector<std::vector<std::string>>;

constexpr std::size_t kColumns = 80;

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

/// What the task says of itself; what is wrong, if it cannot be made.
std::string describe(const Parts& parts, const std::shared_ptr<const TaskEntry>& entry) {
  Values values;
  for (const Option& option : entry->options) values[option.name] = option.fallback;
  try {
    return describe(parts.task(entry, values)->spec());
  } catch (const UsageError& error) {
    return error.what();
  }
}

std::string task_text(const Parts& parts, bool full) {
  Rows rows;
  for (const auto& entry : parts.tasks.entries()) {
    const bool missing = !entry->missing.empty();
    rows.push_back(
        {entry->name, missing ? "not in this build: " + entry->missing : entry->summary});
    if (!full) continue;
    if (!missing) rows.push_back({"", describe(parts, entry)});
    for (const Option& option : entry->options) {
      rows.push_back({"", fmt::format("task.{}: {} ({}; {} unless said)", option.name, option.help,
                                      option.values, option.fallback.text)});
    }
  }
  return aligned(rows);
}

std::string variant_text(const Parts& parts, bool full) {
  Rows rows;
  for (const Variant& variant : parts.variants) {
    rows.push_back({variant.name, variant.summary});
    if (full) rows.push_back({"", fmt::format("{}", fmt::join(variant.settings, " "))});
  }
  std::string text = aligned(rows);
  if (full) {
    text +=
        "\nn is the dimension of the descriptor, 10 unless said: aurora-csc-uniform-5.\n"
        "What a variant does not say is as in aurora list options; any of it can be changed.\n";
  }
  return text;
}

/// The parts of a kind, with their options.
template <class EntryType>
std::string part_text(const Registry<EntryType>& registry, const std::string& prefix, bool full) {
  Rows rows;
  for (const auto& entry : registry.entries()) {
    rows.push_back({entry->name, entry->missing.empty() ? entry->summary
                                                        : "not in this build: " + entry->missing});
    if (!full) continue;
    for (const Option& option : entry->options) {
      const bool whole = option.name.find('.') != std::string::npos;
      rows.push_back({"", fmt::format("{}{} = {}: {} ({})", whole ? "" : prefix + ".", option.name,
                                      option.fallback.toml(), option.help, option.values)});
    }
  }
  return aligned(rows);
}

/// Words in lines of at most 80 columns, each `indent` to the right.
std::string wrapped(std::string_view words, std::size_t indent) {
  std::string text;
  std::string line;
  const auto end_line = [&] {
    if (!line.empty()) text += std::string(indent, ' ') + line + "\n";
    line.clear();
  };
  while (!words.empty()) {
    const std::string_view word = words.substr(0, words.find(' '));
    words.remove_prefix(std::min(word.size() + 1, words.size()));
    if (indent + line.size() + (line.empty() ? 0 : 1) + word.size() > kColumns) end_line();
    line += line.empty() ? word : " " + std::string(word);
  }
  end_line();
  return text;
}

/// A key, its default and what it takes, and below it what it means and for whom.
struct OptionText {
  KeyHelp key;
  std::string parts = {};  // that have it: "threshold.kind=csc, vat"; empty if it belongs to none
  std::string kind = {};   // of the last of them

  void add(const std::string& part) {
    const std::string of = part.substr(0, part.find('='));
    const bool same = of == kind;
    parts += parts.empty() ? part : same ? ", " + part.substr(of.size() + 1) : "; " + part;
    kind = of;
  }

  std::string text() const {
    const std::string fallback = key.fallback.empty() ? "" : " = " + key.fallback;
    std::string text = wrapped(fmt::format("{}{} ({})", key.key, fallback, key.values), 2);
    text += wrapped(key.help, 6);
    if (!parts.empty()) text += wrapped("for " + parts, 6);
    return text;
  }
};

/// Every key once for each meaning that it has, by the first word of the keys.
std::vector<std::pair<std::string, std::vector<OptionText>>> option_groups(const Parts& parts) {
  std::vector<std::pair<std::string, std::vector<OptionText>>> groups;
  for (const KeyHelp& key : key_help(parts)) {
    const std::string name = key.key.substr(0, key.key.find('.'));
    auto group = std::ranges::find(groups, name, [](const auto& g) { return g.first; });
    if (group == groups.end()) group = groups.insert(groups.end(), {name, {}});
    auto& options = group->second;
    auto same = std::ranges::find_if(options, [&](const OptionText& other) {
      return other.key.key == key.key && other.key.help == key.help &&
             other.key.fallback == key.fallback && other.key.values == key.values;
    });
    if (same == options.end()) same = options.insert(options.end(), OptionText{key});
    if (!key.part.empty()) same->add(key.part);
  }
  return groups;
}

std::string option_text(const Parts& parts, bool full) {
  std::string text;
  if (!full) {
    Rows rows;
    std::string last;
    for (const KeyHelp& key : key_help(parts)) {
      if (key.key != last) rows.push_back({key.key, key.help});
      last = key.key;
    }
    return aligned(rows);
  }
  for (const auto& [name, options] : option_groups(parts)) {
    text += fmt::format("[{}]\n", name);
    for (const OptionText& option : options) text += option.text();
    text += "\n";
  }
  text +=
      "key = default (what it takes). A task or a variant may have another default. On\n"
      "the command line as KEY=VALUE, in a TOML file (aurora run --config FILE) as\n"
      "  [container]\n"
      "  target_size = 2000\n";
  return text;
}

/// What can be listed, in order.
struct List {
  const char* name;
  const char* title;
  std::function<std::string(bool full)> text;
};

std::vector<List> lists_of(const Parts& parts) {
  const auto kind = [](const auto& registry, const char* prefix) {
    return [&registry, prefix](bool full) { return part_text(registry, prefix, full); };
  };
  return {{"tasks", "Tasks", [&](bool full) { return task_text(parts, full); }},
          {"variants", "Variants", [&](bool full) { return variant_text(parts, full); }},
          {"loops", "Loops (algorithm.kind)", kind(parts.loops, "algorithm")},
          {"encoders", "Encoders (encoder.kind)", kind(parts.encoders, "encoder")},
          {"containers", "Containers (container.kind)", kind(parts.containers, "container")},
          {"thresholds", "Thresholds (threshold.kind)", kind(parts.thresholds, "threshold")},
          {"selectors", "Selectors (selection.kind)", kind(parts.selectors, "selection")},
          {"variations", "Variation (variation.kind)", kind(parts.variations, "variation")},
          {"metrics", "Metrics (metrics.also)", kind(parts.metrics, "metrics.NAME")},
          {"evaluators", "Evaluators (run.evaluator)", kind(parts.evaluators, "evaluator")},
          {"options", "Options", [&](bool full) { return option_text(parts, full); }}};
}

int act(const std::string& what, const Parts& parts) {
  std::vector<std::string> names;
  std::string all;
  for (const List& list : lists_of(parts)) {
    if (what == list.name) {
      print(list.text(true));
      return 0;
    }
    names.emplace_back(list.name);
    all += fmt::format("{}{}\n{}", all.empty() ? "" : "\n", list.title, list.text(false));
  }
  if (!what.empty()) throw_unknown("list of", what, names);
  print(all);
  return 0;
}

}  // namespace

Command add_list(Parser& program, const Parts& parts) {
  struct Arguments {
    std::string what;
    std::vector<std::string> variants;
  };
  const auto arguments = std::make_shared<Arguments>();
  Grammar grammar = program.command("list", "Show the tasks, variants, parts and options");
  std::vector<std::string> names;
  for (const List& list : lists_of(parts)) names.emplace_back(list.name);
  grammar.add("WHAT", arguments->what,
              fmt::format("{}; all of them, briefly, unless said", fmt::join(names, ", ")),
              {.value = ""});
  add_variants_option(grammar, arguments->variants);
  grammar.footer(
      "Examples:\n"
      "  aurora list\n"
      "  aurora list variants\n"
      "  aurora list containers\n"
      "  aurora list options | less");
  return {grammar, [arguments, &parts] {
            return act(arguments->what, with_variants(parts, arguments->variants));
          }};
}

}  // namespace aurora

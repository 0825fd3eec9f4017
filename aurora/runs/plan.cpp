#include "aurora/runs/plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <set>

#include "aurora/containers/container_ensemble.hpp"
#include "aurora/core/errors.hpp"
#include "aurora/core/processors.hpp"
#include "aurora/encoders/encoder_ensemble.hpp"
#include "aurora/runs/run_directory.hpp"
#include "aurora/storage/internal/toml.hpp"
#include "aurora/storage/paths.hpp"

namespace aurora {
namespace {

constexpr std::size_t kMaxThreads = 4096;
constexpr std::string_view kDefaultVariant = "aurora-csc-uniform-10";
constexpr std::string_view kNone = "none";

// --- Keys ------------------------------------------------------------------------------------

/// The settings that belong to no part. Their names are whole keys.
const Options<RunSettings>& general_options() {
  static const Options<RunSettings> options = [] {
    using R = RunSettings;
    constexpr std::uint64_t kIterations = 1'000'000'000;
    constexpr std::uint64_t kSeed =
        std::numeric_limits<std::int64_t>::max();  // as far as TOML goes
    Options<R> all;
    all.add("run.iterations", &R::iterations, 1, kIterations, "iterations (I)")
        .add("run.batch", &R::batch, 1, 1'000'000, "new genotypes in an iteration (B)")
        .add("run.seed", &R::seed, 0, kSeed, "seed of everything random")
        .add("run.threads", &R::threads, 1, kMaxThreads, "threads; does not change any result")
        .add("run.log_every", &R::log_every, 1, kIterations,
             "iterations between two rows of metrics.csv")
        .add("run.snapshot_every", &R::snapshot_every, 0, kIterations,
             "iterations between two snapshots; 0: none")
        .add("run.checkpoint_seconds", &R::checkpoint_seconds, Range{0, 1e6},
             "between two checkpoints; 0: only at the end")
        .add("run.failure_share", &R::failure_share, Range{0, 1},
             "of the evaluations that may fail; more stop the run")
        .add("run.evaluation_seconds", &R::evaluation_seconds, Range{0.1, 1e6},
             "after which an evaluation is reported as hanging")
        .add("descriptor.kind", &R::descriptor, "where descriptors come from")
        .add("descriptor.dimension", &R::dimension, 1, 1000,
             "dimension of a learned descriptor (n)")
        .add("encoder.update_step", &R::encoder_step, 1, kIterations,
             "updates at T_E, 3 T_E, 6 T_E, ... iterations (T_E)")
        .add("container.target_size", &R::target_size, 1, 10'000'000,
             "container size aimed at, or number of cells (N)")
        .add("metrics.also", &R::metrics_also,
             "metrics to measure besides the standard ones and the task's")
        .add("run.label", &R::label, {}, "what reports call runs of this kind");
    return all;
  }();
  return options;
}

/// Settings that a run may go on with when they have changed, besides the evaluator's.
bool is_free(std::string_view key) {
  constexpr std::string_view kFree[] = {"run.iterations",
                                        "run.threads",
                                        "run.log_every",
                                        "run.snapshot_every",
                                        "run.checkpoint_seconds",
                                        "run.failure_share",
                                        "run.evaluation_seconds",
                                        "run.evaluator",
                                        "run.label",
                                        "metrics.also"};
  return std::ranges::find(kFree, key) != std::end(kFree) || key.starts_with("evaluator.") ||
         key.starts_with("metrics.");
}

/// Keys that came later, and what runs did that began without them.
struct Before {
  std::string_view key, value;
  std::string_view task = "";  // that has the key; all tasks if empty
};
constexpr Before kBefore[] = {{"variation.at_least_one", "false"},
                              {"task.engine", "dart", "hexapod"},
                              {"task.engine", "box2d", "air-hockey"}};

/// What others call it.
constexpr std::pair<std::string_view, std::string_view> kSynonyms[] = {
    {"latent", "descriptor.dimension"},
    {"bottleneck", "descriptor.dimension"},
    {"generations", "run.iterations"},
    {"batch_size", "run.batch"},
    {"archive_size", "container.target_size"},
    {"population_size", "container.target_size"},
    {"mutation", "variation.rate"},
    {"learning_rate", "encoder.learning_rate"}};

std::string key_of(const std::string& prefix, const Option& option) {
  return option.name.find('.') != std::string::npos ? option.name : prefix + "." + option.name;
}

/// A kind of part of which one is chosen by a key.
struct Kind {
  std::string name;  // also the prefix of its options: "container"
  std::string key;   // "container.kind"
  std::string fallback;
  std::string help;
  std::vector<const PartInfo*> parts;

  Option option() const {
    std::vector<std::string> names;
    for (const PartInfo* part : parts) names.push_back(part->name);
    return name_option(key, fallback, names, help);
  }
};

template <class EntryType>
std::vector<const PartInfo*> infos(const Registry<EntryType>& registry) {
  std::vector<const PartInfo*> all;
  for (const auto& entry : registry.entries()) all.push_back(entry.get());
  return all;
}

/// In the order in which they are chosen: a part may leave no place for those of later kinds.
std::vector<Kind> kinds_of(const Parts& parts) {
  return {{"algorithm", "algorithm.kind", "quality-diversity",
           "the loop: parents from the container or a population", infos(parts.loops)},
          {"encoder", "encoder.kind", "auto", "what learns descriptors", infos(parts.encoders)},
          {"container", "container.kind", "unstructured", "who may join the container",
           infos(parts.containers)},
          {"threshold", "threshold.kind", "csc", "how the distance threshold follows the container",
           infos(parts.thresholds)},
          {"selection", "selection.kind", "uniform",
           "which members of the container become parents", infos(parts.selectors)},
          {"variation", "variation.kind", "polynomial", "how children differ from their parents",
           infos(parts.variations)},
          {"evaluator", "run.evaluator", "threads", "who evaluates; does not change any result",
           infos(parts.evaluators)}};
}

std::string metric_prefix(const std::string& metric) {
  return "metrics." + metric;
}

// --- What was said ---------------------------------------------------------------------------

/// In rising order of precedence.
enum class Layer { task, variant, shared, file, word };

struct Setting {
  std::string key;
  Value value;
  std::string place;  // "FILE:LINE: ", "the variant 'x': ", or empty for the command line
  Layer layer;
};

/// Runs `body` and puts the place in front of what it complains about.
template <class Body>
auto at(const std::string& place, Body body) {
  try {
    return body();
  } catch (const UsageError& error) {
    throw UsageError(place + error.what());
  }
}

class Resolver {
 public:
  Resolver(const Parts& parts, const PlanRequest& request)
      : parts_(parts), request_(request), kinds_(kinds_of(parts)) {}

  Plan resolve() {
    gather();
    choose_task();
    choose_variant();
    read_general();
    choose_parts();
    choose_metrics();
    find_idle();
    check_leftovers();
    check_mix();
    note_departures();
    return std::move(plan_);
  }

 private:
  // --- Gathering ---

  void gather() {
    for (const std::string& text : request_.where_they_matter) add(text, "", Layer::shared);
    if (request_.file) {
      const std::string file = request_.file->string();
      for (TomlSetting& setting : flatten(read_toml(*request_.file))) {
        if (setting.value.form == Value::Form::table && is_section(setting.key)) continue;
        said_.push_back({setting.key, std::move(setting.value),
                         fmt::format("{}:{}: ", file, setting.line), Layer::file});
      }
    }
    for (const Before& before : kBefore) {
      if (before.task.empty()) say_what_was(before);
    }
    for (const std::string& text : request_.assignments) add(text, "", Layer::word);
    for (const Setting& setting : said_) check_known(setting);
  }

  /// Of a run that began without the key.
  void say_what_was(const Before& before) {
    if (!request_.file_is_of_run || find(before.key)) return;
    add(fmt::format("{}={}", before.key, before.value), "", Layer::file);
  }

  void add(const std::string& text, const std::string& place, Layer layer) {
    auto [key, value] = parse_assignment(text);
    said_.push_back({std::move(key), std::move(value), place, layer});
  }

  /// Every key that there is, with the option behind it; several parts may have one of a name.
  const std::multimap<std::string, Option>& known() {
    if (!known_.empty()) return known_;
    const auto add_options = [&](const std::string& prefix, const std::vector<Option>& options) {
      for (const Option& option : options) known_.emplace(key_of(prefix, option), option);
    };
    add_options("", general_options().list());
    for (const Kind& kind : kinds_) {
      known_.emplace(kind.key, kind.option());
      for (const PartInfo* part : kind.parts) add_options(kind.name, part->options);
    }
    for (const auto& metric : parts_.metrics.entries()) {
      add_options(metric_prefix(metric->name), metric->options);
    }
    known_.emplace("run.task", name_option("run.task", "", {}, "the robot and its world",
                                           "the name of a task"));
    known_.emplace("run.variant",
                   name_option("run.variant", std::string(kDefaultVariant), {},
                               "the mix that the other keys start from", "the name of a variant"));
    return known_;
  }

  bool is_section(const std::string& key) {
    return key == "task" || std::ranges::any_of(known(), [&](const auto& entry) {
             return entry.first.starts_with(key + ".");
           });
  }

  void check_known(const Setting& setting) {
    if (setting.key.starts_with("task.") || known().contains(setting.key)) return;
    // A key without its section is found by its end: target_size is container.target_size.
    std::vector<std::string> all;
    std::set<std::string> meant;
    for (const auto& [word, key] : kSynonyms) {
      if (setting.key.find(word) != std::string::npos) meant.emplace(key);
    }
    for (const auto& [key, option] : known()) {
      all.push_back(key);
      if (key.ends_with("." + setting.key)) meant.insert(key);
    }
    throw UsageError(fmt::format(
        "{}there is no option '{}'{} (aurora list options shows all)", setting.place, setting.key,
        meant.empty() ? did_you_mean(setting.key, all)
                      : fmt::format("; did you mean '{}'?", fmt::join(meant, "' or '"))));
  }

  // --- Looking up ---

  /// The last and highest that was said of a key.
  const Setting* find(std::string_view key, Layer highest = Layer::word) const {
    const Setting* found = nullptr;
    for (const Setting& setting : said_) {
      if (setting.key != key || setting.layer > highest) continue;
      if (!found || setting.layer >= found->layer) found = &setting;
    }
    return found;
  }

  /// The value of an option: what was said of its key, or its default.
  Value value_of(const std::string& key, const Option& option, Layer highest = Layer::word) {
    used_.insert(key);
    const Setting* setting = find(key, highest);
    if (!setting) return option.fallback;
    if (std::optional<Value> value = option.read(setting->value)) return *std::move(value);
    std::string message = fmt::format("{}{} must be {}, not '{}'", setting->place, key,
                                      option.values, setting->value.text);
    if (setting->value.form == Value::Form::string && option.names.empty()) message += " in quotes";
    throw UsageError(message + did_you_mean(setting->value.text, option.names));
  }

  Values values_of(const std::string& prefix, const std::vector<Option>& options) {
    Values values;
    for (const Option& option : options) {
      values[option.name] = value_of(key_of(prefix, option), option);
    }
    return values;
  }

  // --- Choosing ---

  /// What is said by a word of its own or by a key, with its place.
  std::optional<std::pair<std::string, std::string>> chosen_name(
      const std::optional<std::string>& word, const std::string& key) {
    used_.insert(key);
    if (word) return {{*word, ""}};
    const Setting* setting = find(key);
    if (!setting) return std::nullopt;
    if (setting->value.form != Value::Form::text && setting->value.form != Value::Form::string) {
      throw UsageError(
          fmt::format("{}{} must be a name, not '{}'", setting->place, key, setting->value.text));
    }
    return {{setting->value.text, setting->place}};
  }

  void choose_task() {
    const auto task = chosen_name(request_.task, "run.task");
    if (!task) {
      throw UsageError(
          fmt::format("no task is named (known: {})", fmt::join(parts_.tasks.names(), ", ")));
    }
    const auto found = at(task->second, [&] { return parts_.tasks.find(task->first); });
    const TaskEntry& entry = *found;
    std::vector<std::string> known;
    for (const Option& option : entry.options) known.push_back(option.name);
    for (const Before& before : kBefore) {
      const bool has = std::ranges::find(known, before.key.substr(5)) != known.end();
      if (before.task == entry.name && has) say_what_was(before);
    }
    for (const Setting& setting : said_) {
      if (!setting.key.starts_with("task.")) continue;
      const std::string name = setting.key.substr(5);
      if (std::ranges::find(known, name) != known.end()) continue;
      at(setting.place, [&] {
        if (known.empty()) {
          throw UsageError(fmt::format("the task '{}' has no options, so '{}' means nothing",
                                       entry.name, setting.key));
        }
        throw_unknown(fmt::format("option of the task '{}' called", entry.name), name, known);
      });
    }
    plan_.task_part = {found, values_of("task", entry.options)};
    plan_.task = parts_.task(found, plan_.task_part.values);
    for (const std::string& text : plan_.spec().defaults) {
      add(text, fmt::format("the task '{}': ", entry.name), Layer::task);
      check_known(said_.back());
    }
  }

  void choose_variant() {
    const auto variant = chosen_name(request_.variant, "run.variant");
    const std::string name = variant ? variant->first : std::string(kDefaultVariant);
    NamedVariant named;
    try {
      named = find_variant(parts_.variants, name);
    } catch (const UsageError& error) {
      // A run's own file says everything; the variant is only what it was called.
      if (!request_.file_is_of_run || request_.variant) {
        throw UsageError((variant ? variant->second : "") + error.what());
      }
      named.name = name;
    }
    plan_.variant = named.name;
    for (const std::string& text : named.settings) {
      add(text, fmt::format("the variant '{}': ", named.name), Layer::variant);
      check_known(said_.back());
    }
  }

  void read_general() {
    Values values = values_of("", general_options().list());
    if (!find("run.threads")) {
      values["run.threads"].text = std::to_string(std::min<std::size_t>(processors(), kMaxThreads));
    }
    plan_.run = general_options().make(values);
    if (plan_.run.descriptor == DescriptorKind::hand_coded) {
      without_["encoder"] = "descriptor.kind=hand-coded: there is no encoder";
      used_.erase("descriptor.dimension");
    }
  }

  /// The part of a kind, with its values; nothing if there is no place for one.
  template <class EntryType>
  std::optional<Chosen<EntryType>> choose(const Registry<EntryType>& registry,
                                          const std::string& name) {
    const Kind& kind = *std::ranges::find(kinds_, name, &Kind::name);
    if (without_.contains(kind.name)) return std::nullopt;
    std::string chosen = value_of(kind.key, kind.option()).text;
    auto found = registry.find(chosen);
    // Who evaluated a run need not be there to look at it, or to go on with it.
    if (kind.name == "evaluator" && !found->missing.empty() &&
        find(kind.key)->layer == Layer::file && request_.file_is_of_run) {
      chosen = kind.fallback;
      found = registry.find(chosen);
    }
    const EntryType& entry = *found;
    if (!entry.missing.empty()) {
      throw UsageError(
          fmt::format("{}={} is not in this build: {}", kind.key, chosen, entry.missing));
    }
    for (const auto& [other, reason] : entry.without) {
      without_.emplace(other, fmt::format("{}={}: {}", kind.key, chosen, reason));
    }
    chosen_[kind.name] = &entry;
    return Chosen<EntryType>{found, values_of(kind.name, entry.options)};
  }

  void choose_parts() {
    plan_.loop = *choose(parts_.loops, "algorithm");
    plan_.encoder = choose(parts_.encoders, "encoder");
    plan_.container = choose(parts_.containers, "container");
    plan_.threshold = choose(parts_.thresholds, "threshold");
    plan_.selector = *choose(parts_.selectors, "selection");
    plan_.variation = choose(parts_.variations, "variation");
    plan_.evaluator = *choose(parts_.evaluators, "evaluator");
    const Mix mix = mix_of();
    const auto complete = [&](const std::string& kind, auto& chosen) {
      for (const auto& [option, value] : chosen.entry->depends) {
        if (!find(kind + "." + option)) chosen.values[option].text = real_text(value(mix));
      }
    };
    const auto complete_if = [&](const std::string& kind, auto& chosen) {
      if (chosen) complete(kind, *chosen);
    };
    complete("algorithm", plan_.loop);
    complete_if("encoder", plan_.encoder);
    complete_if("container", plan_.container);
    complete_if("threshold", plan_.threshold);
    complete("selection", plan_.selector);
    complete_if("variation", plan_.variation);
  }

  void choose_metrics() {
    std::vector<std::shared_ptr<const MetricEntry>> chosen;
    const auto take = [&](const std::shared_ptr<const MetricEntry>& entry) {
      if (std::ranges::find(chosen, entry) == chosen.end()) chosen.push_back(entry);
    };
    const auto take_all = [&](const std::vector<std::string>& names, const std::string& place) {
      for (const std::string& name : names) {
        take(at(place, [&] { return parts_.metrics.find(name); }));
      }
    };
    const Mix mix = mix_of();
    for (const auto& entry : parts_.metrics.entries()) {
      if (!entry->standard) continue;
      if (!entry->refuses || entry->refuses(default_values(*entry), mix).empty()) take(entry);
    }
    take_all(plan_.spec().metrics, fmt::format("the task '{}': ", plan_.spec().name));
    const Setting* also = find("metrics.also");
    take_all(plan_.run.metrics_also, also ? also->place : "");
    for (const auto& entry : chosen) {
      plan_.metrics.push_back({entry, values_of(metric_prefix(entry->name), entry->options)});
    }
  }

  static Values default_values(const PartInfo& part) {
    Values values;
    for (const Option& option : part.options) values[option.name] = option.fallback;
    return values;
  }

  // --- Checking ---

  /// Calls body(key of its kind, part) for every part of the plan.
  template <class Body>
  void for_parts(const Body& body) const {
    const auto if_there = [&](const char* key, const auto& chosen) {
      if (chosen) body(key, *chosen);
    };
    body("run.task", plan_.task_part);
    body("algorithm.kind", plan_.loop);
    if_there("encoder.kind", plan_.encoder);
    if_there("container.kind", plan_.container);
    if_there("threshold.kind", plan_.threshold);
    body("selection.kind", plan_.selector);
    if_there("variation.kind", plan_.variation);
    body("run.evaluator", plan_.evaluator);
    for (const auto& metric : plan_.metrics) body("metrics.also", metric);
  }

  /// Keys that belong to parts of this mix, and mean nothing all the same.
  void find_idle() {
    const Mix mix = mix_of();
    for_parts([&](const char*, const auto& chosen) {
      if (!chosen.entry->idle) return;
      for (auto& idle : chosen.entry->idle(chosen.values, mix)) idle_.push_back(std::move(idle));
    });
    for (const auto& [key, reason] : idle_) plan_.idle.push_back(key);
    std::erase_if(used_, [&](const std::string& key) { return !why_idle(key).empty(); });
  }

  std::string why_idle(const std::string& key) const {
    for (const auto& [idle, reason] : idle_) {
      if (key == idle || key.starts_with(idle + ".")) return reason;
    }
    return {};
  }

  /// Keys that were said and belong to nothing in this mix.
  void check_leftovers() {
    for (const Setting& setting : said_) {
      if (used_.contains(setting.key) || setting.key.starts_with("task.")) continue;
      if (setting.layer != Layer::word && setting.layer != Layer::file) continue;
      const std::string reason = meaningless(setting);
      if (reason.empty()) continue;
      // A part that is there writes all of its keys, so all of them can be said again.
      if (!why_idle(setting.key).empty() && is_default(setting)) continue;
      const std::string message = fmt::format("{}{}={} means nothing here: {}", setting.place,
                                              setting.key, setting.value.text, reason);
      if (setting.layer == Layer::word) throw UsageError(message);
      if (!request_.file_is_of_run && !is_default(setting)) plan_.notes.push_back(message);
    }
  }

  /// Why a key means nothing in this mix; empty if it is said that there is nothing.
  std::string meaningless(const Setting& setting) const {
    if (const std::string reason = why_idle(setting.key); !reason.empty()) return reason;
    if (setting.key == "descriptor.dimension") {
      return fmt::format("hand-coded descriptors are the first {} values of the ground truth",
                         plan_.spec().hand_coded_size);
    }
    std::vector<std::string> owners;
    std::string because;
    for (const Kind& kind : kinds_) {
      const auto absent = without_.find(kind.name);
      if (setting.key == kind.key) {
        return setting.value.text == kNone ? std::string() : absent->second;
      }
      for (const PartInfo* part : kind.parts) {
        for (const Option& option : part->options) {
          if (key_of(kind.name, option) != setting.key) continue;
          owners.push_back(fmt::format("{}={}", kind.key, part->name));
          if (absent != without_.end()) {
            because = absent->second;
          } else {
            because =
                fmt::format("{}={} has no such option", kind.key, chosen_.at(kind.name)->name);
          }
        }
      }
    }
    if (owners.empty()) return "this metric is not measured";
    return fmt::format("{}; it is an option of {}", because, fmt::join(owners, ", "));
  }

  /// Whether it says what would be so anyway: older versions wrote every key there is.
  bool is_default(const Setting& setting) {
    const auto [begin, end] = known().equal_range(setting.key);
    const Setting* lower = find(setting.key, Layer::variant);
    for (auto entry = begin; entry != end; ++entry) {
      const std::optional<Value> value = entry->second.read(setting.value);
      if (!value) continue;
      if (*value == entry->second.fallback) return true;
      if (lower && entry->second.read(lower->value) == value) return true;
    }
    return false;
  }

  Mix mix_of() const {
    Mix mix;
    mix.task = plan_.spec();
    mix.loop = plan_.loop.entry->name;
    if (plan_.encoder) mix.encoder = plan_.encoder->entry->name;
    if (plan_.container) mix.container = plan_.container->entry->name;
    if (plan_.threshold) mix.threshold = plan_.threshold->entry->name;
    mix.selection = plan_.selector.entry->name;
    if (plan_.variation) mix.variation = plan_.variation->entry->name;
    mix.learned = plan_.encoder.has_value();
    mix.descriptor_size = plan_.descriptor_size();
    mix.target_size = plan_.run.target_size;
    mix.batch = plan_.run.batch;
    mix.iterations = plan_.run.iterations;
    SelectorContext context{plan_.run.seed};
    const std::unique_ptr<Selector> selector = plan_.selector.make(context);
    mix.ranks = selector->ranks();
    mix.learns = !selector->columns().empty();
    return mix;
  }

  void check_mix() {
    const Mix mix = mix_of();
    if (mix.learned && plan_.run.dimension > mix.task.sensory.size()) {
      throw UsageError(fmt::format(
          "descriptor.dimension={} does not go with the task '{}': its sensory data has only {} "
          "features, and a descriptor cannot have more",
          plan_.run.dimension, mix.task.name, mix.task.sensory.size()));
    }
    for_parts([&](const char* key, const auto& chosen) {
      if (!chosen.entry->refuses) return;
      const std::string reason = chosen.entry->refuses(chosen.values, mix);
      if (!reason.empty()) {
        throw UsageError(fmt::format("{}={} does not go with {}", key, chosen.entry->name, reason));
      }
    });
  }

  /// Where the user has changed what the variant says.
  void note_departures() {
    for (const Setting& setting : said_) {
      if (setting.layer != Layer::variant || !used_.contains(setting.key)) continue;
      const Setting* last = find(setting.key);
      if (!last || last->layer == Layer::variant) continue;
      for (const auto& [key, now] : plan_.settings()) {
        const Option& option = known().find(setting.key)->second;
        const std::optional<Value> before = option.read(setting.value);
        if (key == setting.key && before && before->toml() != now) {
          plan_.departures.push_back(
              fmt::format("{} = {} instead of {}", key, now, before->toml()));
        }
      }
    }
  }

  const Parts& parts_;
  const PlanRequest& request_;
  std::vector<Kind> kinds_;
  std::multimap<std::string, Option> known_;
  std::vector<Setting> said_;
  std::set<std::string> used_;                     // keys that matter
  std::map<std::string, std::string> without_;     // kinds that have no place, and why
  std::map<std::string, const PartInfo*> chosen_;  // by kind
  Idle idle_;
  Plan plan_;
};

std::string toml_key(const std::string& name) {
  const bool bare = !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
  });
  return bare ? name : toml_string(name);
}

}  // namespace

std::size_t Plan::descriptor_size() const {
  if (run.descriptor == DescriptorKind::hand_coded) return spec().hand_coded_size;
  return run.dimension * loop.integer(kEncodersOption).value_or(1);
}

Settings Plan::settings() const {
  Settings settings = {{"run.task", toml_string(task_part.entry->name)},
                       {"run.variant", toml_string(variant)}};
  const auto add_options = [&](const std::string& prefix, const PartInfo& part,
                               const Values& values) {
    for (const Option& option : part.options) {
      settings.emplace_back(key_of(prefix, option), values.at(option.name).toml());
    }
  };
  const auto add_part = [&](const std::string& key, const auto& chosen) {
    settings.emplace_back(key, toml_string(chosen.entry->name));
    add_options(key.substr(0, key.find('.')), *chosen.entry, chosen.values);
  };
  const auto add_if = [&](const std::string& key, const auto& chosen) {
    if (chosen) add_part(key, *chosen);
  };
  settings.emplace_back("run.evaluator", toml_string(evaluator.entry->name));
  const auto number = [&](const char* key, const auto& value) {
    settings.emplace_back(key, fmt::to_string(value));
  };
  number("run.iterations", run.iterations);
  number("run.batch", run.batch);
  number("run.seed", run.seed);
  number("run.threads", run.threads);
  number("run.log_every", run.log_every);
  number("run.snapshot_every", run.snapshot_every);
  settings.emplace_back("run.checkpoint_seconds", real_text(run.checkpoint_seconds));
  settings.emplace_back("run.failure_share", real_text(run.failure_share));
  settings.emplace_back("run.evaluation_seconds", real_text(run.evaluation_seconds));
  add_part("algorithm.kind", loop);
  settings.emplace_back("descriptor.kind", toml_string(name_of(run.descriptor)));
  if (encoder) number("descriptor.dimension", run.dimension);
  add_if("encoder.kind", encoder);
  number("encoder.update_step", run.encoder_step);
  add_if("container.kind", container);
  number("container.target_size", run.target_size);
  add_if("threshold.kind", threshold);
  add_part("selection.kind", selector);
  add_if("variation.kind", variation);
  add_options("evaluator", *evaluator.entry, evaluator.values);
  if (!run.metrics_also.empty()) {
    settings.emplace_back(
        "metrics.also",
        Value{Value::Form::list, fmt::format("{}", fmt::join(run.metrics_also, ","))}.toml());
  }
  if (!run.label.empty()) settings.emplace_back("run.label", toml_string(run.label));
  for (const auto& metric : metrics) {
    add_options(metric_prefix(metric.entry->name), *metric.entry, metric.values);
  }
  add_options("task", *task_part.entry, task_part.values);
  std::erase_if(settings, [&](const auto& setting) {
    return std::ranges::find(idle, setting.first) != idle.end();
  });
  return settings;
}

std::string Plan::toml() const {
  std::string text = "# A complete configuration: a run with this file is the same run again.\n";
  // A section's keys stand together, whoever they belong to.
  std::vector<std::pair<std::string, std::string>> sections;
  for (const auto& [key, value] : settings()) {
    const std::size_t dot = key.find('.');
    const std::string section = key.substr(0, dot);
    auto found = std::ranges::find(sections, section, &std::pair<std::string, std::string>::first);
    if (found == sections.end()) found = sections.insert(sections.end(), {section, ""});
    found->second += fmt::format("{} = {}\n", toml_key(key.substr(dot + 1)), value);
  }
  for (const auto& [section, lines] : sections) text += fmt::format("\n[{}]\n{}", section, lines);
  return text;
}

std::unique_ptr<Encoder> Plan::make_encoder(std::size_t dimension, Stream& stream) const {
  if (!encoder) return nullptr;
  EncoderContext context{spec().sensory, dimension, stream};
  const auto count = loop.integer(kEncodersOption);
  if (!count) return encoder->make(context);
  std::vector<std::unique_ptr<Encoder>> encoders;  // the stream gives each a start of its own
  for (std::uint64_t i = 0; i < *count; ++i) encoders.push_back(encoder->make(context));
  return std::make_unique<EncoderEnsemble>(std::move(encoders));
}

std::unique_ptr<Container> Plan::make_container(Workers& workers, const Watch& watch) const {
  if (!container) return nullptr;
  SelectorContext selection{run.seed};
  ContainerContext context{
      .layout = layout_of(spec(), descriptor_size(), *selector.make(selection)),
      .bounds = {},
      .target_size = run.target_size,
      .seed = run.seed,
      .workers = workers,
      .threshold = nullptr,
      .watch = watch};
  if (!encoder) {
    for (std::size_t i = 0; i < spec().hand_coded_size; ++i) {
      context.bounds.push_back({spec().ground_truth[i].min, spec().ground_truth[i].max});
    }
  }
  const auto make = [&] {
    ThresholdContext distance{run.target_size};
    if (threshold) context.threshold = threshold->make(distance);
    return container->make(context);
  };
  const auto count = loop.integer(kEncodersOption);
  if (!count) return make();
  const IndividualsLayout layout = context.layout;
  context.layout = ContainerEnsemble::part_layout(layout, *count);
  std::vector<std::unique_ptr<Container>> containers;
  for (std::uint64_t i = 0; i < *count; ++i) containers.push_back(make());
  return std::make_unique<ContainerEnsemble>(layout, std::move(containers));
}

std::unique_ptr<Algorithm> Plan::make_loop(Workers& workers, const Watch& watch) const {
  SelectorContext selection{run.seed};
  VariationContext genes{spec().genotype_size};
  Stream weights(run.seed, Purpose::encoder_weights);
  LoopContext context{.task = spec(),
                      .batch = run.batch,
                      .seed = run.seed,
                      .encoder_step = run.encoder_step,
                      .descriptor_size = descriptor_size(),
                      .encoder = make_encoder(run.dimension, weights),
                      .container = make_container(workers, watch),
                      .selector = selector.make(selection),
                      .variation = variation ? variation->make(genes) : nullptr,
                      .workers = workers};
  return loop.make(context);
}

std::vector<std::unique_ptr<Metric>> Plan::make_metrics() const {
  std::vector<std::unique_ptr<Metric>> made;
  MetricContext context{spec()};
  for (const auto& metric : metrics) made.push_back(metric.make(context));
  return made;
}

std::unique_ptr<Evaluator> Plan::make_evaluator(
    Workers& workers, const std::function<void(const std::string&)>& warn) const {
  EvaluatorContext context{*task, workers, warn};
  return evaluator.make(context);
}

Plan resolve(const Parts& parts, const PlanRequest& request) {
  return Resolver(parts, request).resolve();
}

Plan plan_of_run(const Parts& parts, const std::filesystem::path& run) {
  if (!directory_exists(run)) {
    throw FileError(fmt::format("there is no run directory '{}'", run.string()));
  }
  PlanRequest request;
  request.file = run / "config.toml";
  request.file_is_of_run = true;
  if (!path_exists(*request.file)) {
    throw FileError(
        fmt::format("'{}' is no run directory: there is no config.toml in it", run.string()));
  }
  refuse_digest(run);
  return resolve(parts, request);
}

void check_same_run(const Parts& parts, const Settings& saved, const Plan& plan) {
  const auto value_in = [](const Settings& settings, const std::string& key) {
    const auto found = std::ranges::find(settings, key, &Settings::value_type::first);
    return found == settings.end() ? std::optional<std::string>() : found->second;
  };
  // What this plan would be if nobody had said what is not saved: the defaults.
  PlanRequest plain;
  plain.task = plan.task_part.entry->name;
  for (const auto& [key, value] : plan.settings()) {
    if (key == "run.task" || key == "run.variant" || !value_in(saved, key)) continue;
    const bool quoted = value.starts_with('"');
    plain.where_they_matter.push_back(
        fmt::format("{}={}", key, quoted ? value.substr(1, value.size() - 2) : value));
  }
  std::optional<Settings> defaults;
  for (const auto& [key, now] : plan.settings()) {
    if (is_free(key)) continue;
    std::optional<std::string> before = value_in(saved, key);
    for (const Before& then : kBefore) {
      if (before || key != then.key) continue;
      if (then.task.empty()) before = then.value;
      if (then.task == plan.task_part.entry->name) before = toml_string(then.value);
    }
    if (!before) {
      if (!defaults) defaults = resolve(parts, plain).settings();
      before = value_in(*defaults, key);
    }
    if (before == now) continue;
    throw UsageError(
        fmt::format("the run cannot go on with another configuration: {} was {}, now it is {}; "
                    "leave it as it was, or start a new run in another directory",
                    key, before.value_or("not there"), now));
  }
}

std::vector<KeyHelp> key_help(const Parts& parts) {
  std::vector<KeyHelp> all;
  const auto add = [&](const std::string& key, const Option& option, const std::string& part) {
    all.push_back({key, option.fallback.toml(), option.values, option.help, part});
  };
  all.push_back({"run.task", "", "the name of a task", "the robot and its world", ""});
  all.push_back({"run.variant", toml_string(kDefaultVariant), "the name of a variant",
                 "the mix that the other keys start from", ""});
  for (const Option& option : general_options().list()) add(option.name, option, "");
  for (const Kind& kind : kinds_of(parts)) {
    add(kind.key, kind.option(), "");
    for (const PartInfo* part : kind.parts) {
      for (const Option& option : part->options) {
        add(key_of(kind.name, option), option, fmt::format("{}={}", kind.key, part->name));
      }
    }
  }
  for (const auto& metric : parts.metrics.entries()) {
    for (const Option& option : metric->options) {
      add(key_of(metric_prefix(metric->name), option), option, "");
    }
  }
  for (const auto& task : parts.tasks.entries()) {
    for (const Option& option : task->options) {
      add(key_of("task", option), option, fmt::format("run.task={}", task->name));
    }
  }
  return all;
}

}  // namespace aurora

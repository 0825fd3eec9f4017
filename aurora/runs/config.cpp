#include "aurora/runs/config.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#define TOML_ENABLE_FORMATTERS 0

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string_view>
#include <thread>
#include <utility>

#include "aurora/algorithms/containers.hpp"
#include "aurora/algorithms/variants.hpp"
#include "aurora/core/errors.hpp"
#include "aurora/core/names.hpp"
#include "aurora/runs/internal/toml.hpp"

namespace aurora {
namespace {

constexpr std::size_t kMaxListLength = 16;
constexpr std::size_t kMaxThreads = 4096;
constexpr std::string_view kTaskPrefix = "task.";

// --- What the user wrote ---------------------------------------------------------------------

/// The type that a value was written with. On the command line everything is `text`, which may
/// become anything; in a file the type must be right.
enum class Form { text, integer, real, string, boolean, list, table, other };

struct Given {
  Form form = Form::text;
  std::string text;  // lists: the items, separated by commas
};

struct Setting {
  std::string key;
  Given given;
  std::string place;  // "FILE:LINE: ", or empty for the command line
};

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

Setting parse_assignment(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || trim(text.substr(0, equals)).empty()) {
    throw UsageError(
        fmt::format("'{}' is not of the form KEY=VALUE, as in container.target_size=1000", text));
  }
  return {.key = std::string(trim(text.substr(0, equals))),
          .given = {Form::text, std::string(trim(text.substr(equals + 1)))},
          .place = {}};
}

/// Shortest text that reads back to the same number and looks like a real one.
std::string toml_real(double value) {
  std::string text = fmt::to_string(value);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

/// A TOML value as text that reads back to the same value.
Given given_of(const toml::node& node) {
  if (const auto* value = node.as_integer()) return {Form::integer, fmt::to_string(value->get())};
  if (const auto* value = node.as_floating_point()) {
    return {Form::real, toml_real(value->get())};
  }
  if (const auto* value = node.as_string()) return {Form::string, value->get()};
  if (const auto* value = node.as_boolean()) {
    return {Form::boolean, value->get() ? "true" : "false"};
  }
  if (const auto* array = node.as_array()) {
    Given list{Form::list, {}};
    for (const toml::node& item : *array) {
      const Given given = given_of(item);
      if (given.form != Form::integer) return {Form::other, "a list of something else"};
      list.text += (list.text.empty() ? "" : ",") + given.text;
    }
    return list;
  }
  if (node.is_table()) return {Form::table, "a table"};
  return {Form::other, "a date or time"};
}

void flatten(const toml::table& table, const std::string& prefix, const std::string& file,
             std::vector<Setting>& settings) {
  for (const auto& [key, node] : table) {
    const std::string name = prefix + std::string(key.str());
    const toml::table* inner = node.as_table();
    if (inner && !inner->empty()) {
      flatten(*inner, name + ".", file, settings);
    } else {
      settings.push_back({.key = name,
                          .given = given_of(node),
                          .place = fmt::format("{}:{}: ", file, node.source().begin.line)});
    }
  }
}

std::vector<Setting> read_settings(const std::filesystem::path& path) {
  std::vector<Setting> settings;
  flatten(read_toml(path), "", path.string(), settings);
  return settings;
}

// --- Options ---------------------------------------------------------------------------------

/// A key: what it allows, and how it goes into and out of a configuration.
struct Option {
  std::string key;
  std::string values;  // "an integer from 1 to 4096"
  std::string help;
  std::vector<std::string> names;  // if the values are names
  /// False if the value is not allowed; the configuration is then unchanged.
  std::function<bool(const Given&, RunConfig&)> set;
  /// The value as TOML.
  std::function<std::string(const RunConfig&)> get;
};

template <class Number>
bool parse_number(std::string_view text, Number& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

std::string toml_string(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      quoted += {'\\', c};
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      quoted += fmt::format("\\u{:04X}", static_cast<unsigned>(c));
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

// `field` is a generic function that gives the address of a field of a (constant) RunConfig.

template <class Field>
Option integer(const std::string& key, std::uint64_t low, std::uint64_t high,
               const std::string& help, Field field) {
  return {.key = key,
          .values = fmt::format("an integer from {} to {}", low, high),
          .help = help,
          .names = {},
          .set =
              [=](const Given& given, RunConfig& config) {
                std::uint64_t value = 0;
                if (given.form != Form::text && given.form != Form::integer) return false;
                if (!parse_number(given.text, value) || value < low || value > high) return false;
                *field(config) = value;
                return true;
              },
          .get = [=](const RunConfig& config) { return fmt::to_string(*field(config)); }};
}

/// Which numbers a real option takes; every number is finite.
struct Range {
  std::string words;
  bool (*holds)(double);
};

const Range kProbability = {"a number from 0 to 1", [](double x) { return x >= 0 && x <= 1; }};
const Range kBelowOne = {"a number from 0 to less than 1",
                         [](double x) { return x >= 0 && x < 1; }};
const Range kFraction = {"a number above 0, at most 1", [](double x) { return x > 0 && x <= 1; }};
const Range kDistance = {"a number above 0, at most 1e+30",
                         [](double x) { return x > 0 && x <= 1e30; }};
const Range kVolume = {"a number above 0, at most 1e+06",
                       [](double x) { return x > 0 && x <= 1e6; }};
const Range kIndex = {"a number from 0 to 1000", [](double x) { return x >= 0 && x <= 1000; }};
const Range kPatience = {"a number of seconds from 0.1 to 1000000",
                         [](double x) { return x >= 0.1 && x <= 1e6; }};
const Range kSeconds = {"a number from 0 to 1e+06", [](double x) { return x >= 0 && x <= 1e6; }};
const Range kUpToTen = {"a number from 0 to 10", [](double x) { return x >= 0 && x <= 10; }};

template <class Field>
Option real(const std::string& key, const Range& range, const std::string& help, Field field) {
  return {.key = key,
          .values = range.words,
          .help = help,
          .names = {},
          .set =
              [=, holds = range.holds](const Given& given, RunConfig& config) {
                double value = 0;
                if (given.form != Form::text && given.form != Form::integer &&
                    given.form != Form::real) {
                  return false;
                }
                if (!parse_number(given.text, value) || !holds(value)) return false;
                *field(config) = value;
                return true;
              },
          .get = [=](const RunConfig& config) { return toml_real(*field(config)); }};
}

template <class Enumeration, class Field>
Option name(const std::string& key, const std::string& help, Field field) {
  return {.key = key,
          .values = fmt::format("one of {}", fmt::join(names_of<Enumeration>(), ", ")),
          .help = help,
          .names = names_of<Enumeration>(),
          .set =
              [=](const Given& given, RunConfig& config) {
                if (given.form != Form::text && given.form != Form::string) return false;
                for (const auto& [enumerator, known] : Names<Enumeration>::entries) {
                  if (known != given.text) continue;
                  *field(config) = enumerator;
                  return true;
                }
                return false;
              },
          .get = [=](const RunConfig& config) { return toml_string(name_of(*field(config))); }};
}

/// A list of sizes: [32, 8] in a file, 32,8 (or the same as in a file) on the command line.
template <class Field>
Option sizes(const std::string& key, std::uint64_t low, std::uint64_t high, const std::string& help,
             Field field) {
  return {.key = key,
          .values = fmt::format("a list of at most {} integers from {} to {}, as in 32,8",
                                kMaxListLength, low, high),
          .help = help,
          .names = {},
          .set =
              [=](const Given& given, RunConfig& config) {
                if (given.form != Form::text && given.form != Form::list) return false;
                std::string_view rest = given.text;
                if (rest.starts_with('[') && rest.ends_with(']')) {
                  rest = trim(rest.substr(1, rest.size() - 2));
                }
                std::vector<std::size_t> list;
                for (bool more = !rest.empty(); more;) {
                  const std::size_t comma = rest.find(',');
                  std::size_t value = 0;
                  if (!parse_number(trim(rest.substr(0, comma)), value)) return false;
                  if (value < low || value > high || list.size() == kMaxListLength) return false;
                  list.push_back(value);
                  more = comma != std::string_view::npos;
                  if (more) rest.remove_prefix(comma + 1);
                }
                *field(config) = std::move(list);
                return true;
              },
          .get =
              [=](const RunConfig& config) {
                return fmt::format("[{}]", fmt::join(*field(config), ", "));
              }};
}

template <class Field>
Option word(const std::string& key, const std::string& values, const std::string& help,
            Field field) {
  return {.key = key,
          .values = values,
          .help = help,
          .names = {},
          .set =
              [=](const Given& given, RunConfig& config) {
                if (given.form != Form::text && given.form != Form::string) return false;
                *field(config) = given.text;
                return true;
              },
          .get = [=](const RunConfig& config) { return toml_string(*field(config)); }};
}

// --- The table -------------------------------------------------------------------------------

std::vector<Option> make_options() {
  constexpr std::uint64_t kSize = 10'000'000;
  constexpr std::uint64_t kBatch = 1'000'000;
  constexpr std::uint64_t kIterations = 1'000'000'000;
  constexpr std::uint64_t kSeed = std::numeric_limits<std::int64_t>::max();  // as far as TOML goes
  return {
      word("run.task", "the name of a task", "the robot and its world",
           [](auto& c) { return &c.task; }),
      word("run.variant", "the name of a variant", "the mix that the other keys start from",
           [](auto& c) { return &c.variant; }),
      integer("run.iterations", 1, kIterations, "iterations (I)",
              [](auto& c) { return &c.iterations; }),
      integer("run.batch", 1, kBatch, "new genotypes in an iteration (B)",
              [](auto& c) { return &c.algorithm.batch; }),
      integer("run.seed", 0, kSeed, "seed of everything random",
              [](auto& c) { return &c.algorithm.seed; }),
      integer("run.threads", 1, kMaxThreads, "threads; does not change any result",
              [](auto& c) { return &c.threads; }),
      integer("run.log_every", 1, kIterations, "iterations between two rows of metrics.csv",
              [](auto& c) { return &c.log_every; }),
      integer("run.snapshot_every", 0, kIterations, "iterations between two snapshots; 0: none",
              [](auto& c) { return &c.snapshot_every; }),
      real("run.checkpoint_seconds", kSeconds, "between two checkpoints; 0: only at the end",
           [](auto& c) { return &c.checkpoint_seconds; }),
      real("run.failure_share", kProbability, "of the evaluations that may fail; more stop the run",
           [](auto& c) { return &c.failure_share; }),
      real("run.evaluation_seconds", kPatience, "after which an evaluation is reported as hanging",
           [](auto& c) { return &c.evaluation_seconds; }),

      name<AlgorithmKind>("algorithm.kind", "the loop: parents from the container or a population",
                          [](auto& c) { return &c.algorithm.kind; }),
      integer("population.added", 1, kBatch, "individuals added in a generation (Q)",
              [](auto& c) { return &c.algorithm.population.added; }),
      real("population.unvaried", kProbability, "taxons: probability that a child is a copy",
           [](auto& c) { return &c.algorithm.population.unvaried; }),

      name<DescriptorKind>("descriptor.kind", "where descriptors come from",
                           [](auto& c) { return &c.algorithm.descriptor; }),
      integer("descriptor.dimension", 1, 1000, "dimension of a learned descriptor (n)",
              [](auto& c) { return &c.algorithm.dimension; }),

      name<EncoderKind>("encoder.kind", "auto: conv-ae for pictures, mlp-ae for the rest",
                        [](auto& c) { return &c.algorithm.encoder.kind; }),
      name<EncoderEngine>("encoder.engine", "who computes the auto-encoder; torch is the oracle",
                          [](auto& c) { return &c.algorithm.encoder.engine; }),
      integer("encoder.update_step", 1, kIterations,
              "updates at T_E, 3 T_E, 6 T_E, ... iterations (T_E)",
              [](auto& c) { return &c.algorithm.encoder_step; }),
      integer("encoder.batch", 1, kBatch, "individuals in a gradient step",
              [](auto& c) { return &c.algorithm.encoder.batch; }),
      integer("encoder.epochs", 1, kBatch, "epochs in an update, at most",
              [](auto& c) { return &c.algorithm.encoder.epochs; }),
      integer("encoder.patience", 1, kBatch, "epochs without progress before training stops",
              [](auto& c) { return &c.algorithm.encoder.patience; }),
      real("encoder.learning_rate", kFraction, "step size of Adam",
           [](auto& c) { return &c.algorithm.encoder.learning_rate; }),
      integer("encoder.max_examples", 1, kSize, "individuals used for an update, at most",
              [](auto& c) { return &c.algorithm.encoder.max_examples; }),
      sizes("encoder.hidden", 1, 100'000, "mlp-ae: layers between input and descriptor",
            [](auto& c) { return &c.algorithm.encoder.hidden; }),

      name<ContainerKind>("container.kind", "who may join the container",
                          [](auto& c) { return &c.algorithm.container; }),
      integer("container.target_size", 1, kSize, "container size aimed at, or number of cells (N)",
              [](auto& c) { return &c.algorithm.target_size; }),
      integer("container.k", 1, 1000, "neighbours that make the novelty score (k)",
              [](auto& c) { return &c.algorithm.archive.k; }),
      real("container.epsilon", kBelowOne, "tolerance of the replacement rule (eps)",
           [](auto& c) { return &c.algorithm.archive.epsilon; }),
      integer("container.update_period", 1, kIterations,
              "iterations between two container updates (T_C)",
              [](auto& c) { return &c.algorithm.update_period; }),

      name<ThresholdKind>("threshold.kind", "how the distance threshold follows the container",
                          [](auto& c) { return &c.algorithm.threshold.kind; }),
      real("threshold.gain", kFraction, "csc: how fast it follows (K_CSC)",
           [](auto& c) { return &c.algorithm.threshold.gain; }),
      real("threshold.value", kDistance, "fixed: the threshold (d_min)",
           [](auto& c) { return &c.algorithm.threshold.value; }),
      real("threshold.vat_constant", kVolume, "vat: how densely the volume is filled (K_VAT)",
           [](auto& c) { return &c.algorithm.threshold.vat_constant; }),
      real("threshold.proportional", kUpToTen, "pid: gain on log(size / N)",
           [](auto& c) { return &c.algorithm.threshold.pid.proportional; }),
      real("threshold.integral", kUpToTen, "pid: gain on its sum",
           [](auto& c) { return &c.algorithm.threshold.pid.integral; }),
      real("threshold.derivative", kUpToTen, "pid: gain on its change",
           [](auto& c) { return &c.algorithm.threshold.pid.derivative; }),

      name<SelectionKind>("selection.kind", "which members of the container become parents",
                          [](auto& c) { return &c.algorithm.selection; }),

      name<VariationKind>("variation.kind", "how children differ from their parents",
                          [](auto& c) { return &c.algorithm.variation.kind; }),
      real("variation.rate", kProbability, "polynomial: probability that a gene mutates",
           [](auto& c) { return &c.algorithm.variation.rate; }),
      real("variation.eta", kIndex, "polynomial: distribution index (eta_m)",
           [](auto& c) { return &c.algorithm.variation.eta; }),
      real("variation.crossover", kProbability, "probability of a second parent (SBX)",
           [](auto& c) { return &c.algorithm.variation.crossover; }),
      real("variation.crossover_eta", kIndex, "SBX: distribution index (eta_c)",
           [](auto& c) { return &c.algorithm.variation.crossover_eta; }),
      real("variation.iso_sigma", kUpToTen, "iso+line: deviation in all directions",
           [](auto& c) { return &c.algorithm.variation.iso_sigma; }),
      real("variation.line_sigma", kUpToTen, "iso+line: deviation towards the other parent",
           [](auto& c) { return &c.algorithm.variation.line_sigma; }),
  };
}

const std::vector<Option>& options() {
  static const std::vector<Option> table = make_options();
  return table;
}

// --- From settings to a configuration --------------------------------------------------------

/// Runs `body` and puts the place in front of what it complains about.
template <class Body>
auto at(const std::string& place, Body body) {
  try {
    return body();
  } catch (const UsageError& error) {
    throw UsageError(place + error.what());
  }
}

[[noreturn]] void throw_unknown_key(const Setting& setting) {
  // A key without its section is found by its end: target_size is container.target_size.
  std::vector<std::string> all;
  std::vector<std::string> same_end;
  for (const Option& option : options()) {
    all.push_back(option.key);
    if (option.key.ends_with("." + setting.key)) same_end.push_back(option.key);
  }
  throw UsageError(fmt::format(
      "{}there is no option '{}'; did you mean '{}'? (aurora list options shows all)",
      setting.place, setting.key, nearest_name(setting.key, same_end.empty() ? all : same_end)));
}

bool is_task_option(const Setting& setting) {
  return setting.key.starts_with(kTaskPrefix);
}

/// A section of a file in which nothing is said.
bool is_empty_section(const Setting& setting) {
  return setting.given.form == Form::table &&
         (setting.key + "." == kTaskPrefix ||
          std::ranges::any_of(options(), [&](const Option& option) {
            return option.key.starts_with(setting.key + ".");
          }));
}

const Option& find_option(const Setting& setting) {
  for (const Option& option : options()) {
    if (option.key == setting.key) return option;
  }
  throw_unknown_key(setting);
}

void apply(const Setting& setting, RunConfig& config) {
  const Option& option = find_option(setting);
  if (option.set(setting.given, config)) return;
  std::string message = fmt::format("{}{} must be {}, not '{}'", setting.place, option.key,
                                    option.values, setting.given.text);
  const bool quoted = setting.given.form == Form::string && option.names.empty();
  if (quoted) message += " in quotes";
  if (!option.names.empty()) {
    message += fmt::format("; did you mean '{}'?", nearest_name(setting.given.text, option.names));
  }
  throw UsageError(message);
}

/// What run.task or run.variant say, with their place; the command line's own word goes first.
std::optional<std::pair<std::string, std::string>> chosen_name(
    const std::optional<std::string>& word, const std::vector<Setting>& settings,
    std::string_view key) {
  if (word) return {{*word, ""}};
  for (auto setting = settings.rbegin(); setting != settings.rend(); ++setting) {
    if (setting->key == key) return {{setting->given.text, setting->place}};
  }
  return std::nullopt;
}

void choose_task(const TaskRegistry& tasks, const ConfigRequest& request,
                 const std::vector<Setting>& settings, RunConfig& config) {
  const auto task = chosen_name(request.task, settings, "run.task");
  if (!task) {
    throw UsageError(fmt::format("no task is named (known: {})", fmt::join(tasks.names(), ", ")));
  }
  config.task = task->first;
  at(task->second, [&] { tasks.find(config.task); });
  TaskOptions given;
  for (const Setting& setting : settings) {
    if (!is_task_option(setting)) continue;
    const std::string option = setting.key.substr(kTaskPrefix.size());
    // One by one, so that a complaint has its place.
    at(setting.place, [&] { tasks.complete(config.task, {{option, setting.given.text}}); });
    given[option] = setting.given.text;
  }
  config.task_options = tasks.complete(config.task, given);
}

void choose_variant(const ConfigRequest& request, const std::vector<Setting>& settings,
                    RunConfig& config) {
  if (const auto variant = chosen_name(request.variant, settings, "run.variant")) {
    config.variant = at(variant->second, [&] { return canonical_variant(variant->first); });
  }
  apply_variant(config.variant, config.algorithm);
}

void apply_task_defaults(const TaskDefaults& defaults, RunConfig& config) {
  config.iterations = defaults.iterations;
  config.algorithm.target_size = defaults.target_size;
  config.algorithm.variation.rate = defaults.mutation_rate;
  config.algorithm.threshold.vat_constant = defaults.vat_constant;
}

void check_population(const AlgorithmConfig& algorithm) {
  if (algorithm.selection == SelectionKind::uniform || algorithm.selection == SelectionKind::none) {
    throw UsageError(fmt::format(
        "selection.kind={} does not go with algorithm.kind={}: a population is ranked, and only "
        "novelty, surprise and novelty+surprise give a ranking",
        name_of(algorithm.selection), name_of(algorithm.kind)));
  }
  if (algorithm.population.added > algorithm.batch) {
    throw UsageError(fmt::format(
        "population.added={} does not go with run.batch={}: no more children can be added than "
        "there are",
        algorithm.population.added, algorithm.batch));
  }
}

/// Mixes that make no sense, with the reason.
void check_mix(const RunConfig& config, const TaskSpec& task) {
  const AlgorithmConfig& algorithm = config.algorithm;
  const bool surprise = algorithm.selection == SelectionKind::surprise ||
                        algorithm.selection == SelectionKind::novelty_surprise;
  check_container(algorithm);
  if (algorithm.kind != AlgorithmKind::quality_diversity) check_population(algorithm);
  if (algorithm.descriptor == DescriptorKind::hand_coded) {
    if (surprise) {
      throw UsageError(fmt::format(
          "selection.kind={} does not go with descriptor.kind=hand-coded: surprise is the "
          "reconstruction error of an encoder, and hand-coded descriptors have none; use "
          "descriptor.kind=learned or selection.kind=novelty",
          name_of(algorithm.selection)));
    }
    return;
  }
  if (algorithm.dimension > task.sensory.size()) {
    throw UsageError(fmt::format(
        "descriptor.dimension={} does not go with the task '{}': its sensory data has only {} "
        "features, and a descriptor cannot have more",
        algorithm.dimension, config.task, task.sensory.size()));
  }
  if (algorithm.encoder.kind == EncoderKind::conv_ae && !task.sensory.is_picture()) {
    throw UsageError(fmt::format(
        "encoder.kind=conv-ae does not go with the task '{}': its sensory data is no picture; use "
        "encoder.kind=mlp-ae or encoder.kind=pca",
        config.task));
  }
}

std::string toml_key(const std::string& name) {
  const bool bare = !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  });
  return bare ? name : toml_string(name);
}

}  // namespace

RunConfig resolve(const TaskRegistry& tasks, const ConfigRequest& request) {
  // Gather everything in rising order of precedence; keys that do not exist end it here.
  std::vector<Setting> settings;
  if (request.file) settings = read_settings(*request.file);
  for (const std::string& text : request.assignments) settings.push_back(parse_assignment(text));
  std::erase_if(settings, is_empty_section);
  for (const Setting& setting : settings) {
    if (!is_task_option(setting)) find_option(setting);
  }

  // Lay the layers on each other.
  RunConfig config;
  config.threads = std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, kMaxThreads);
  choose_task(tasks, request, settings, config);
  const TaskSpec spec = tasks.spec(config.task, config.task_options);
  apply_task_defaults(spec.defaults, config);
  choose_variant(request, settings, config);
  RunConfig names = config;  // run.task and run.variant are checked here but have been chosen above
  for (const Setting& setting : settings) {
    if (is_task_option(setting)) continue;
    const bool chosen = setting.key == "run.task" || setting.key == "run.variant";
    apply(setting, chosen ? names : config);
  }
  check_mix(config, spec);
  return config;
}

RunConfig config_of_run(const TaskRegistry& tasks, const std::filesystem::path& run) {
  if (!std::filesystem::is_directory(run)) {
    throw FileError(fmt::format("there is no run directory '{}'", run.string()));
  }
  ConfigRequest request;
  request.file = run / "config.toml";
  if (!std::filesystem::exists(*request.file)) {
    throw FileError(
        fmt::format("'{}' is no run directory: there is no config.toml in it", run.string()));
  }
  return resolve(tasks, request);
}

std::string to_toml(const RunConfig& config) {
  std::string text = "# A complete configuration: aurora run --config THIS_FILE repeats the run.\n";
  std::string section;
  for (const Option& option : options()) {
    const std::size_t dot = option.key.find('.');
    if (option.key.substr(0, dot) != section) {
      section = option.key.substr(0, dot);
      text += fmt::format("\n[{}]\n", section);
    }
    text += fmt::format("{} = {}\n", option.key.substr(dot + 1), option.get(config));
  }
  if (!config.task_options.empty()) text += "\n[task]\n";
  for (const auto& [key, value] : config.task_options) {
    text += fmt::format("{} = {}\n", toml_key(key), toml_string(value));
  }
  return text;
}

Settings settings_of(const RunConfig& config) {
  Settings settings;
  for (const Option& option : options()) settings.emplace_back(option.key, option.get(config));
  for (const auto& [key, value] : config.task_options) {
    settings.emplace_back(std::string(kTaskPrefix) + key, toml_string(value));
  }
  return settings;
}

void check_same_run(const Settings& saved, const RunConfig& config) {
  constexpr std::string_view kFree[] = {
      "run.iterations",         "run.threads",       "run.log_every",         "run.snapshot_every",
      "run.checkpoint_seconds", "run.failure_share", "run.evaluation_seconds"};
  const auto value_in = [](const Settings& settings, const std::string& key) {
    const auto found = std::ranges::find(settings, key, &Settings::value_type::first);
    return found == settings.end() ? std::string("not there") : found->second;
  };
  const auto check = [&](const std::string& key, const std::string& before,
                         const std::string& now) {
    if (before == now || std::ranges::find(kFree, key) != std::end(kFree)) return;
    throw UsageError(
        fmt::format("the run cannot go on with another configuration: {} was {}, now it is {}; "
                    "leave it as it was, or start a new run with another --out",
                    key, before, now));
  };
  const Settings given = settings_of(config);
  for (const auto& [key, value] : saved) check(key, value, value_in(given, key));
  for (const auto& [key, value] : given) check(key, value_in(saved, key), value);
}

std::vector<std::string> departures_from_variant(const RunConfig& config) {
  RunConfig pure = config;
  apply_variant(config.variant, pure.algorithm);
  std::vector<std::string> departures;
  for (const Option& option : options()) {
    if (option.get(config) == option.get(pure)) continue;
    departures.push_back(
        fmt::format("{} = {} instead of {}", option.key, option.get(config), option.get(pure)));
  }
  return departures;
}

std::vector<OptionHelp> option_help() {
  std::vector<OptionHelp> help;
  for (const Option& option : options()) help.push_back({option.key, option.values, option.help});
  return help;
}

}  // namespace aurora

// Options: the settings that a part offers, said once, beside the struct that holds them.
//
//   struct CscConfig { double gain = 5e-6; };                       // the default lives here
//   Options<CscConfig>().add("gain", &CscConfig::gain, {0, 1}, "how fast it follows (K_CSC)")
//
// Reading, checking, writing and listing of configurations all go through these. An option's key is
// its name behind the name of its kind (`threshold.gain`); a name with a dot is a key as it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aurora/core/names.hpp"

namespace aurora {

/// What somebody wrote, or what an option is. On the command line everything is `text`, which may
/// become anything; in a file the form must be right.
struct Value {
  enum class Form { text, integer, real, string, boolean, list, table, other };
  Form form = Form::text;
  std::string text;  // lists: the items, separated by commas

  /// As it stands in a TOML file.
  std::string toml() const;
  friend bool operator==(const Value&, const Value&) = default;
};

/// By name, without the kind in front.
using Values = std::map<std::string, Value, std::less<>>;

/// Which numbers a real option takes; every number is finite.
struct Range {
  double low = 0;
  double high = 1;
  bool above_low = false;   // low itself is not allowed
  bool below_high = false;  // high itself is not allowed

  bool holds(double value) const;
  std::string words() const;  // "a number above 0, at most 1"
};

/// One option, whatever its type.
struct Option {
  std::string name;
  std::string values;  // what it takes: "an integer from 1 to 4096"
  std::string help;
  std::vector<std::string> names;  // if the values are names
  Value fallback;                  // the default
  /// The value that is meant, in its own form; nothing if it is not allowed.
  std::function<std::optional<Value>(const Value&)> read;
};

// Readers and writers of the types that options have.
Option integer_option(std::string name, std::uint64_t fallback, std::uint64_t low,
                      std::uint64_t high, std::string help);
Option real_option(std::string name, double fallback, const Range& range, std::string help);
Option flag_option(std::string name, bool fallback, std::string help);
/// One of `names`, or, if there are none, any text, of which `values` says what it is.
Option name_option(std::string name, std::string fallback, std::vector<std::string> names,
                   std::string help, std::string values = {});
/// A list of sizes: [32, 8] in a file, 32,8 (or the same as in a file) on the command line.
Option sizes_option(std::string name, const std::vector<std::size_t>& fallback, std::uint64_t low,
                    std::uint64_t high, std::string help);
/// A list of names: ["a", "b"] in a file, a,b on the command line.
Option names_option(std::string name, std::string help);

std::uint64_t integer_of(const Value& value);
double real_of(const Value& value);
std::vector<std::size_t> sizes_of(const Value& value);
std::vector<std::string> names_of(const Value& value);

/// The options of a struct, each with the member that it sets.
template <class Config>
class Options {
 public:
  Options& add(std::string name, std::size_t Config::*field, std::uint64_t low, std::uint64_t high,
               std::string help) {
    return keep(integer_option(std::move(name), Config{}.*field, low, high, std::move(help)),
                [field](const Value& v, Config& c) { c.*field = integer_of(v); });
  }
  Options& add(std::string name, double Config::*field, const Range& range, std::string help) {
    return keep(real_option(std::move(name), Config{}.*field, range, std::move(help)),
                [field](const Value& v, Config& c) { c.*field = real_of(v); });
  }
  Options& add(std::string name, bool Config::*field, std::string help) {
    return keep(flag_option(std::move(name), Config{}.*field, std::move(help)),
                [field](const Value& v, Config& c) { c.*field = v.text == "true"; });
  }
  Options& add(std::string name, std::vector<std::size_t> Config::*field, std::uint64_t low,
               std::uint64_t high, std::string help) {
    return keep(sizes_option(std::move(name), Config{}.*field, low, high, std::move(help)),
                [field](const Value& v, Config& c) { c.*field = sizes_of(v); });
  }
  Options& add(std::string name, std::string Config::*field, std::vector<std::string> names,
               std::string help) {
    return keep(name_option(std::move(name), Config{}.*field, std::move(names), std::move(help)),
                [field](const Value& v, Config& c) { c.*field = v.text; });
  }
  Options& add(std::string name, std::vector<std::string> Config::*field, std::string help) {
    return keep(names_option(std::move(name), std::move(help)),
                [field](const Value& v, Config& c) { c.*field = names_of(v); });
  }
  /// An enumeration whose enumerators have Names.
  template <class E>
  requires std::is_enum_v<E> Options& add(std::string name, E Config::*field, std::string help) {
    return keep(name_option(std::move(name), std::string(name_of(Config{}.*field)), names_of<E>(),
                            std::move(help)),
                [field](const Value& v, Config& c) { c.*field = parse_name<E>("value", v.text); });
  }

  const std::vector<Option>& list() const { return options_; }

  /// The struct with these values, which `read` of their options gave; others keep their default.
  Config make(const Values& values) const {
    Config config;
    for (std::size_t i = 0; i < options_.size(); ++i) {
      const auto value = values.find(options_[i].name);
      if (value != values.end()) assign_[i](value->second, config);
    }
    return config;
  }

 private:
  using Assign = std::function<void(const Value&, Config&)>;

  Options& keep(Option option, Assign assign) {
    for (const Option& other : options_) {
      if (other.name == option.name)
        throw UsageError("two options are called '" + other.name + "'");
    }
    options_.push_back(std::move(option));
    assign_.push_back(std::move(assign));
    return *this;
  }

  std::vector<Option> options_;
  std::vector<Assign> assign_;
};

/// Letters, digits, '-', '_', '+' and '.', beginning with a letter or digit: good as a file's name.
bool is_plain_name(std::string_view name);

/// KEY=VALUE taken apart. UsageError if it is something else.
std::pair<std::string, Value> parse_assignment(std::string_view text);

/// The shortest text that reads back to the same number and looks like a real one.
std::string real_text(double value);
/// A text in quotes, of ASCII characters alone: others are escaped.
std::string toml_string(std::string_view text);

}  // namespace aurora

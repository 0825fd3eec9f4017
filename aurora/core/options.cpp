#include "aurora/core/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "aurora/core/errors.hpp"

namespace aurora {
namespace {

using Form = Value::Form;

constexpr std::size_t kMaxListLength = 16;

template <class Number>
bool parse_number(std::string_view text, Number& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

/// The items of a list, without brackets and the white space around them.
std::vector<std::string> items_of(std::string_view rest) {
  if (rest.starts_with('[') && rest.ends_with(']')) rest = rest.substr(1, rest.size() - 2);
  rest = trim(rest);
  std::vector<std::string> items;
  for (bool more = !rest.empty(); more;) {
    const std::size_t comma = rest.find(',');
    items.emplace_back(trim(rest.substr(0, comma)));
    more = comma != std::string_view::npos;
    if (more) rest.remove_prefix(comma + 1);
  }
  return items;
}

/// Items of a file's list of strings stand in quotes.
std::string unquoted(const std::string& item) {
  const bool quoted = item.size() >= 2 && item.front() == '"' && item.back() == '"';
  return quoted ? item.substr(1, item.size() - 2) : item;
}

/// The letter that begins at `i`, which moves on behind it; what is not UTF-8 is U+FFFD.
std::uint32_t next_letter(std::string_view text, std::size_t& i) {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  const unsigned char first = byte(i++);
  if (first < 0x80) return first;
  const int more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
  std::uint32_t letter = first & (0x3fU >> more);
  for (int n = 0; n < more; ++n, ++i) {
    if (i == text.size() || (byte(i) & 0xc0) != 0x80) return 0xfffd;
    letter = letter << 6 | (byte(i) & 0x3fU);
  }
  const bool surrogate = letter >= 0xd800 && letter < 0xe000;
  const bool shortest = letter >= (more == 1 ? 0x80U : more == 2 ? 0x800U : 0x10000U);
  return first < 0xc0 || first > 0xf4 || surrogate || !shortest || letter > 0x10ffff ? 0xfffd
                                                                                     : letter;
}

}  // namespace

std::string toml_string(std::string_view text) {
  std::string quoted = "\"";
  for (std::size_t i = 0; i < text.size();) {
    const std::uint32_t letter = next_letter(text, i);
    if (letter == '"' || letter == '\\') {
      quoted += {'\\', static_cast<char>(letter)};
    } else if (letter < 0x20 || letter > 0x7e) {
      quoted +=
          letter > 0xffff ? fmt::format("\\U{:08X}", letter) : fmt::format("\\u{:04X}", letter);
    } else {
      quoted += static_cast<char>(letter);
    }
  }
  return quoted + "\"";
}

std::string real_text(double value) {
  std::string text = fmt::to_string(value);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

std::string Value::toml() const {
  if (form == Form::string || form == Form::text) return toml_string(text);
  if (form != Form::list) return text;
  std::vector<std::string> items = items_of(text);
  for (std::string& item : items) {
    std::int64_t number = 0;
    const bool is_integer = parse_number(item, number) && fmt::to_string(number) == item;
    if (!is_integer) item = toml_string(item);
  }
  return fmt::format("[{}]", fmt::join(items, ", "));
}

bool Range::holds(double value) const {
  return std::isfinite(value) && (above_low ? value > low : value >= low) &&
         (below_high ? value < high : value <= high);
}

std::string Range::words() const {
  return above_low
             ? fmt::format("a number above {}, {} {}", low, below_high ? "less than" : "at most",
                           high)
             : fmt::format("a number from {} to {}{}", low, below_high ? "less than " : "", high);
}

Option integer_option(std::string name, std::uint64_t fallback, std::uint64_t low,
                      std::uint64_t high, std::string help) {
  return {.name = std::move(name),
          .values = fmt::format("an integer from {} to {}", low, high),
          .help = std::move(help),
          .names = {},
          .fallback = {Form::integer, fmt::to_string(fallback)},
          .read = [=](const Value& given) -> std::optional<Value> {
            std::uint64_t value = 0;
            if (given.form != Form::text && given.form != Form::integer) return std::nullopt;
            if (!parse_number(given.text, value) || value < low || value > high) {
              return std::nullopt;
            }
            return Value{Form::integer, fmt::to_string(value)};
          }};
}

Option real_option(std::string name, double fallback, const Range& range, std::string help) {
  return {
      .name = std::move(name),
      .values = range.words(),
      .help = std::move(help),
      .names = {},
      .fallback = {Form::real, real_text(fallback)},
      .read = [=](const Value& given) -> std::optional<Value> {
        double value = 0;
        if (given.form != Form::text && given.form != Form::integer && given.form != Form::real) {
          return std::nullopt;
        }
        if (!parse_number(given.text, value) || !range.holds(value)) return std::nullopt;
        return Value{Form::real, real_text(value)};
      }};
}

Option flag_option(std::string name, bool fallback, std::string help) {
  return {.name = std::move(name),
          .values = "true or false",
          .help = std::move(help),
          .names = {},
          .fallback = {Form::boolean, fallback ? "true" : "false"},
          .read = [](const Value& given) -> std::optional<Value> {
            if (given.form != Form::text && given.form != Form::boolean) return std::nullopt;
            if (given.text != "true" && given.text != "false") return std::nullopt;
            return Value{Form::boolean, given.text};
          }};
}

Option name_option(std::string name, std::string fallback, std::vector<std::string> names,
                   std::string help, std::string values) {
  if (values.empty()) {
    values = names.empty() ? "a text" : fmt::format("one of {}", fmt::join(names, ", "));
  }
  return {.name = std::move(name),
          .values = std::move(values),
          .help = std::move(help),
          .names = names,
          .fallback = {Form::string, std::move(fallback)},
          .read = [names](const Value& given) -> std::optional<Value> {
            if (given.form != Form::text && given.form != Form::string) return std::nullopt;
            if (!names.empty() && std::ranges::find(names, given.text) == names.end()) {
              return std::nullopt;
            }
            return Value{Form::string, given.text};
          }};
}

Option sizes_option(std::string name, const std::vector<std::size_t>& fallback, std::uint64_t low,
                    std::uint64_t high, std::string help) {
  return {.name = std::move(name),
          .values = fmt::format("a list of at most {} integers from {} to {}, as in 32,8",
                                kMaxListLength, low, high),
          .help = std::move(help),
          .names = {},
          .fallback = {Form::list, fmt::format("{}", fmt::join(fallback, ","))},
          .read = [=](const Value& given) -> std::optional<Value> {
            if (given.form != Form::text && given.form != Form::list) return std::nullopt;
            std::vector<std::string> items = items_of(given.text);
            for (std::string& item : items) {
              std::uint64_t value = 0;
              if (!parse_number(item, value) || value < low || value > high) return std::nullopt;
              item = fmt::to_string(value);
            }
            if (items.size() > kMaxListLength) return std::nullopt;
            return Value{Form::list, fmt::format("{}", fmt::join(items, ","))};
          }};
}

Option names_option(std::string name, std::string help) {
  return {.name = std::move(name),
          .values = "a list of names, as in a,b",
          .help = std::move(help),
          .names = {},
          .fallback = {Form::list, ""},
          .read = [](const Value& given) -> std::optional<Value> {
            if (given.form != Form::text && given.form != Form::list) return std::nullopt;
            std::vector<std::string> items = items_of(given.text);
            for (std::string& item : items) item = unquoted(item);
            if (!std::ranges::all_of(items, is_plain_name)) return std::nullopt;
            return Value{Form::list, fmt::format("{}", fmt::join(items, ","))};
          }};
}

std::uint64_t integer_of(const Value& value) {
  std::uint64_t number = 0;
  parse_number(value.text, number);
  return number;
}

double real_of(const Value& value) {
  double number = 0;
  parse_number(value.text, number);
  return number;
}

std::vector<std::size_t> sizes_of(const Value& value) {
  std::vector<std::size_t> sizes;
  for (const std::string& item : items_of(value.text)) {
    std::size_t size = 0;
    parse_number(item, size);
    sizes.push_back(size);
  }
  return sizes;
}

std::vector<std::string> names_of(const Value& value) {
  return items_of(value.text);
}

bool is_plain_name(std::string_view name) {
  const auto alphanumeric = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  return !name.empty() && name.size() <= 100 && alphanumeric(name.front()) &&
         std::ranges::all_of(name, [&](char c) {
           return alphanumeric(c) || c == '-' || c == '_' || c == '+' || c == '.';
         });
}

std::pair<std::string, Value> parse_assignment(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || trim(text.substr(0, equals)).empty()) {
    throw UsageError(
        fmt::format("'{}' is not of the form KEY=VALUE, as in container.target_size=1000", text));
  }
  return {std::string(trim(text.substr(0, equals))),
          Value{Form::text, std::string(trim(text.substr(equals + 1)))}};
}

}  // namespace aurora

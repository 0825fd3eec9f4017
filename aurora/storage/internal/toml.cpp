#include "aurora/storage/internal/toml.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <string>

#include "aurora/core/errors.hpp"
#include "aurora/storage/files.hpp"

namespace aurora {
namespace {

constexpr std::uint64_t kMaxFileSize = std::uint64_t{1} << 20;

/// Comments lose what is beyond ASCII; elsewhere it is an error.
void make_ascii(std::string& text, const std::string& file) {
  std::size_t line = 1;
  char quote = 0;  // the one we are inside of, on this line
  bool comment = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\n') {
      ++line;
      quote = 0;
      comment = false;
    } else if (comment) {
      if (static_cast<unsigned char>(c) >= 0x80) text[i] = '?';
    } else if (static_cast<unsigned char>(c) >= 0x80) {
      throw DataError(
          fmt::format("{}:{}: letters beyond ASCII may only stand in comments", file, line));
    } else if (quote != 0) {
      if (c == '\\' && quote == '"' && i + 1 < text.size() && text[i + 1] != '\n') {
        ++i;
        if (static_cast<unsigned char>(text[i]) >= 0x80) --i;  // is looked at in its turn
      } else if (c == quote) {
        quote = 0;
      }
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '#') {
      comment = true;
    }
  }
}

/// The library reads tables in tables, and keys with dots, by calling itself: a file could ask for
/// more of that than there is memory for.
void check_depth(const std::string& text, const std::string& file) {
  constexpr std::size_t kDeepest = 32;
  std::size_t line = 1;
  std::size_t dots = 0;      // since the last thing that ends a key
  std::size_t brackets = 0;  // open
  char quote = 0;
  bool comment = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\n') {
      ++line;
      comment = false;
      quote = 0;
      dots = 0;
      continue;
    }
    if (comment) continue;
    if (quote != 0) {
      if (c == '\\' && quote == '"') {
        ++i;
      } else if (c == quote) {
        quote = 0;
      }
      continue;
    }
    if (c == '"' || c == '\'') quote = c;
    if (c == '#') comment = true;
    if (c == '.') ++dots;
    if (c == '=' || c == ',') dots = 0;
    if (c == '[' || c == '{') ++brackets;
    if ((c == ']' || c == '}') && brackets > 0) --brackets;
    if (dots > kDeepest || brackets > kDeepest) {
      throw DataError(
          fmt::format("{}:{}: nothing is nested more than {} deep", file, line, kDeepest));
    }
  }
}

}  // namespace

toml::table read_toml(const std::filesystem::path& path) {
  const std::string file = path.string();
  std::string text = read_file(path, kMaxFileSize);
  if (text.starts_with("\xEF\xBB\xBF"))
    text.erase(0, 3);  // the mark that some editors put in front
  make_ascii(text, file);
  check_depth(text, file);
  try {
    return toml::parse(text, file);
  } catch (const toml::parse_error& error) {
    throw DataError(fmt::format("{}:{}: this is not TOML: {}", file, error.source().begin.line,
                                error.description()));
  }
}

Value value_of(const toml::node& node) {
  using Form = Value::Form;
  if (const auto* value = node.as_integer()) return {Form::integer, fmt::to_string(value->get())};
  if (const auto* value = node.as_floating_point()) return {Form::real, real_text(value->get())};
  if (const auto* value = node.as_string()) return {Form::string, value->get()};
  if (const auto* value = node.as_boolean()) {
    return {Form::boolean, value->get() ? "true" : "false"};
  }
  if (const auto* array = node.as_array()) {
    Value list{Form::list, {}};
    for (const toml::node& item : *array) {
      if (!item.is_integer() && !item.is_string()) {
        return {Form::other, "a list of something else"};
      }
      // In quotes, so that no comma inside a string makes two of it, and "8" is no number.
      list.text += (list.text.empty() ? "" : ",") + value_of(item).toml();
    }
    return list;
  }
  if (node.is_table()) return {Form::table, "a table"};
  return {Form::other, "a date or time"};
}

std::vector<TomlSetting> flatten(const toml::table& table, const std::string& prefix) {
  std::vector<TomlSetting> settings;
  for (const auto& [key, node] : table) {
    const std::string name = prefix + std::string(key.str());
    const toml::table* inner = node.as_table();
    if (inner != nullptr && !inner->empty()) {
      std::vector<TomlSetting> deeper = flatten(*inner, name + ".");
      settings.insert(settings.end(), deeper.begin(), deeper.end());
    } else {
      settings.push_back({name, value_of(node), &node, node.source().begin.line});
    }
  }
  return settings;
}

}  // namespace aurora

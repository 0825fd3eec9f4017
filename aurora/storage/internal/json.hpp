// JSON as the run directory has it. Not installed: users of the library need no JSON library.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aurora/core/errors.hpp"
#include "aurora/core/named.hpp"
#include "aurora/core/names.hpp"

namespace aurora {

using Json = nlohmann::ordered_json;

/// The text of a file. Texts from outside may hold bytes that are not UTF-8; they must not keep us
/// from writing.
std::string to_text(const Json& json);

/// FileError if the file cannot be read, DataError if it is too large or not JSON.
Json read_json(const std::filesystem::path& path);

/// Adds a "checksum" of all that is in an object so far, as to_text() writes it.
void sign(Json& json);

/// A file with an object that sign() signed, or another program as it does: the checksum is of the
/// text, to the letter, and comes last. DataError if it is damaged.
Json read_signed_json(const std::filesystem::path& path);

/// A JSON object that knows where it comes from, so that messages can say it.
class JsonObject {
 public:
  JsonObject(const Json& json, std::string where) : json_(json), where_(std::move(where)) {
    if (!json_.is_object()) throw DataError(fmt::format("{}: an object was expected", where_));
  }

  [[noreturn]] void wrong(std::string_view key, std::string_view wanted) const {
    throw DataError(fmt::format("{}: '{}' should be {}", where_, key, wanted));
  }

  bool has(std::string_view key) const { return json_.contains(key); }

  const Json& at(std::string_view key) const {
    const auto found = json_.find(key);
    if (found == json_.end()) throw DataError(fmt::format("{}: '{}' is missing", where_, key));
    return *found;
  }

  std::string text(std::string_view key) const {
    const Json& value = at(key);
    if (!value.is_string()) wrong(key, "a text");
    return value.get<std::string>();
  }

  std::uint64_t whole(std::string_view key) const {
    const Json& value = at(key);
    if (!value.is_number_unsigned()) wrong(key, "a whole number, 0 or more");
    return value.get<std::uint64_t>();
  }

  bool flag(std::string_view key) const {
    const Json& value = at(key);
    if (!value.is_boolean()) wrong(key, "true or false");
    return value.get<bool>();
  }

  /// `null` stands for what JSON cannot say.
  double number(std::string_view key) const {
    const Json& value = at(key);
    if (value.is_null()) return std::numeric_limits<double>::quiet_NaN();
    if (!value.is_number()) wrong(key, "a number");
    return value.get<double>();
  }

  /// A list of texts; none if the key is not there.
  std::vector<std::string> text_list(std::string_view key) const {
    std::vector<std::string> values;
    if (!has(key)) return values;
    for (const Json& value : array(key)) {
      if (!value.is_string()) wrong(key, "a list of texts");
      values.push_back(value.get<std::string>());
    }
    return values;
  }

  std::vector<std::size_t> whole_numbers(std::string_view key) const {
    std::vector<std::size_t> values;
    for (const Json& value : array(key)) {
      if (!value.is_number_unsigned()) wrong(key, "a list of whole numbers, 0 or more");
      values.push_back(value.get<std::size_t>());
    }
    return values;
  }

  /// The object itself, if all its values are numbers.
  std::vector<NamedNumber> numbers() const {
    std::vector<NamedNumber> all;
    for (const auto& [key, value] : json_.items()) all.push_back({key, number(key)});
    return all;
  }

  /// The object itself, if all its values are texts.
  std::vector<std::pair<std::string, std::string>> texts() const {
    std::vector<std::pair<std::string, std::string>> all;
    for (const auto& [key, value] : json_.items()) all.emplace_back(key, text(key));
    return all;
  }

  template <class E>
  E name(std::string_view key) const {
    const std::string text_value = text(key);
    for (const auto& [enumerator, known] : Names<E>::entries) {
      if (known == text_value) return enumerator;
    }
    wrong(key, fmt::format("one of {}, not '{}'", fmt::join(names_of<E>(), ", "), text_value));
  }

  JsonObject object(std::string_view key) const {
    return {at(key), fmt::format("{}: '{}'", where_, key)};
  }

  std::vector<JsonObject> objects(std::string_view key) const {
    std::vector<JsonObject> all;
    for (const Json& value : array(key)) {
      all.emplace_back(value, fmt::format("{}: '{}', number {}", where_, key, all.size() + 1));
    }
    return all;
  }

 private:
  const Json& array(std::string_view key) const {
    const Json& value = at(key);
    if (!value.is_array()) wrong(key, "a list");
    return value;
  }

  const Json& json_;
  std::string where_;
};

}  // namespace aurora

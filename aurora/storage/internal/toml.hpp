// TOML files, for those who read them.
#pragma once

#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "aurora/core/options.hpp"

namespace aurora {

/// Reads a file. DataError with file and line if it is not TOML, or has characters beyond ASCII
/// outside comments: the library's classification of those is undefined for many of them (its
/// is_non_ascii_horizontal_whitespace, in 3.3), and no key or value of ours needs any.
toml::table read_toml(const std::filesystem::path& file);

/// A TOML value as text that reads back to the same value.
Value value_of(const toml::node& node);

/// One value of a table of tables.
struct TomlSetting {
  std::string key;  // with those of the tables around it: "container.k"
  Value value;
  const toml::node* node;  // for lists that are looked into
  std::size_t line = 0;
};

/// All values, in the order of the library. An empty table counts as a value.
std::vector<TomlSetting> flatten(const toml::table& table, const std::string& prefix = "");

}  // namespace aurora

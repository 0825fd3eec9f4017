// TOML files, for those who read them.
#pragma once

#include <toml++/toml.h>

#include <filesystem>

namespace aurora {

/// Reads a file. DataError with file and line if it is not TOML, or has characters beyond ASCII
/// outside comments: the library's classification of those is undefined for many of them (its
/// is_non_ascii_horizontal_whitespace, in 3.3), and no key or value of ours needs any.
toml::table read_toml(const std::filesystem::path& file);

}  // namespace aurora

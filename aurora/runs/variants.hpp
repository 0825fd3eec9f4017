// Variants: names for common mixes of parts. A variant only says KEY=VALUE, through the same table
// as everything else, so whatever it says can be changed afterwards, and mixes without a name are
// as good as those with one.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace aurora {

struct Variant {
  /// A name that ends with "-n" has a number there, 1 to 1000, which stands for every "n" among the
  /// values: "aurora-csc-uniform-5".
  std::string name;
  std::string summary;
  std::vector<std::string> settings;  // KEY=VALUE
};

/// What a name stands for.
struct NamedVariant {
  std::string name;                   // complete: "aurora-csc-uniform-10"
  std::vector<std::string> settings;  // with the number in its place
};

/// UsageError for unknown names, with the nearest known one, and for numbers out of range. A number
/// that is left out is 10.
NamedVariant find_variant(const std::vector<Variant>& variants, std::string_view name);

/// Adds a variant; UsageError if its name is taken or could not be that of a file.
void add_variant(std::vector<Variant>& variants, Variant variant);

/// Adds those of the [variant.NAME] tables of a TOML file:
///
///   [variant.curious-5]
///   summary = "what it is"                        # may be left out
///   base = "aurora-csc-uniform-5"                 # what it starts from; may be left out
///   settings = { selection.kind = "novelty" }
///
/// FileError, DataError or UsageError with what is wrong and where. One that is there already, with
/// the same settings, is left alone.
void add_variants_of_file(std::vector<Variant>& variants, const std::filesystem::path& file);

}  // namespace aurora

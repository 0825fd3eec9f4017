#include "aurora/runs/variants.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "aurora/core/errors.hpp"
#include "aurora/core/names.hpp"
#include "aurora/core/options.hpp"
#include "aurora/runs/internal/variant_table.hpp"
#include "aurora/storage/internal/toml.hpp"

namespace aurora {
namespace {

constexpr std::size_t kDefaultNumber = 10;
constexpr std::size_t kLargestNumber = 1000;
constexpr std::string_view kNumbered = "-n";

bool is_numbered(const Variant& variant) {
  return variant.name.ends_with(kNumbered);
}

/// The name without its number, and without the dash before it.
std::string_view stem_of(const Variant& variant) {
  std::string_view stem = variant.name;
  if (is_numbered(variant)) stem.remove_suffix(kNumbered.size());
  return stem;
}

bool all_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

std::size_t parse_number(std::string_view name, std::string_view digits) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), number);
  if (error != std::errc() || number < 1 || number > kLargestNumber) {
    throw UsageError(fmt::format(
        "the variant '{}' ends with the dimension of its descriptor, which must be an integer from "
        "1 to {}, not {}",
        name, kLargestNumber, digits));
  }
  return number;
}

[[noreturn]] void throw_unknown_variant(const std::vector<Variant>& variants,
                                        std::string_view name) {
  // Compare with names that end as the user's does, so that "aurora-cs-uniform-5" finds "...-5".
  const std::size_t dash = name.rfind('-');
  const bool has_number = dash != std::string_view::npos && all_digits(name.substr(dash + 1));
  const std::string_view number = has_number ? name.substr(dash + 1) : "10";
  std::vector<std::string> candidates;
  std::vector<std::string> known;
  for (const Variant& variant : variants) {
    candidates.emplace_back(stem_of(variant));
    if (is_numbered(variant)) candidates.back().append("-").append(number);
    known.push_back(variant.name);
  }
  throw UsageError(fmt::format("there is no variant '{}'{} (known: {})", name,
                               did_you_mean(name, candidates), fmt::join(known, ", ")));
}

/// The variant that a name stands for; null if there is none.
const Variant* find_match(const std::vector<Variant>& variants, std::string_view name) {
  for (const Variant& variant : variants) {
    const std::string_view stem = stem_of(variant);
    if (name == stem) return &variant;
    if (!is_numbered(variant) || !name.starts_with(stem)) continue;
    const std::string_view rest = name.substr(stem.size());
    if (rest.starts_with('-') && all_digits(rest.substr(1))) return &variant;
  }
  return nullptr;
}

NamedVariant numbered(const Variant& variant, std::size_t number) {
  NamedVariant named{std::string(stem_of(variant)), variant.settings};
  if (!is_numbered(variant)) return named;
  named.name += fmt::format("-{}", number);
  for (std::string& setting : named.settings) {
    const auto [key, value] = parse_assignment(setting);
    if (value.text == "n") setting = fmt::format("{}={}", key, number);
  }
  return named;
}

}  // namespace

NamedVariant find_variant(const std::vector<Variant>& variants, std::string_view name) {
  const Variant* variant = find_match(variants, name);
  if (variant == nullptr) throw_unknown_variant(variants, name);
  if (name == stem_of(*variant)) return numbered(*variant, kDefaultNumber);
  return numbered(*variant, parse_number(name, name.substr(stem_of(*variant).size() + 1)));
}

void add_variant(std::vector<Variant>& variants, Variant variant) {
  if (!is_plain_name(variant.name)) {
    throw UsageError(fmt::format(
        "a variant cannot be called '{}': a name has letters, digits, '-', '_', '+' and '.', and "
        "begins with a letter or digit",
        variant.name));
  }
  for (const std::string& setting : variant.settings) parse_assignment(setting);
  const auto same = std::ranges::find(variants, variant.name, &Variant::name);
  if (same != variants.end() && same->settings == variant.settings) return;
  // A name that stands for something already, as "aurora-csc-uniform-5" does, would never be found.
  const Variant* taken = find_match(variants, stem_of(variant));
  if (taken == nullptr && is_numbered(variant)) {
    taken = find_match(variants, fmt::format("{}-{}", stem_of(variant), kDefaultNumber));
  }
  if (taken != nullptr) {
    throw UsageError(
        fmt::format("a variant cannot be called '{}': '{}' is there already, with other settings",
                    variant.name, taken->name));
  }
  variants.push_back(std::move(variant));
}

namespace {

/// One [variant.NAME] table.
Variant variant_of(const std::vector<Variant>& variants, const std::string& name,
                   const toml::node& node, const std::string& file) {
  Variant variant;
  variant.name = name;
  const toml::table* fields = node.as_table();
  if (fields == nullptr) throw UsageError("must be a table");
  for (const auto& [field, value] : *fields) {
    if (field.str() == "summary" && value.is_string()) {
      variant.summary = value.as_string()->get();
    } else if (field.str() == "base" && value.is_string()) {
      const std::string base = value.as_string()->get();
      // A base with "-n" hands its number on.
      const auto pattern = std::ranges::find(variants, base, &Variant::name);
      const std::vector<std::string> settings =
          pattern != variants.end() ? pattern->settings : find_variant(variants, base).settings;
      variant.settings.insert(variant.settings.begin(), settings.begin(), settings.end());
    } else if (field.str() == "settings" && value.is_table()) {
      for (const TomlSetting& setting : flatten(*value.as_table())) {
        variant.settings.push_back(fmt::format("{}={}", setting.key, setting.value.text));
      }
    } else {
      throw UsageError(fmt::format(
          "has '{}'; it may have a text 'summary', a text 'base' and a table 'settings'",
          field.str()));
    }
  }
  if (variant.summary.empty()) variant.summary = "of " + file;
  return variant;
}

}  // namespace

void add_variants_of_table(std::vector<Variant>& variants, const toml::table& table,
                           const std::string& file) {
  const toml::node* node = table.get("variant");
  if (node == nullptr) return;
  if (!node->is_table()) throw UsageError(fmt::format("{}: 'variant' must be a table", file));
  // In the order of the file, so that one may start from another that stands above it.
  std::vector<std::pair<std::string, const toml::node*>> tables;
  for (const auto& [key, inner] : *node->as_table()) tables.emplace_back(key.str(), &inner);
  std::ranges::sort(tables, {}, [](const auto& entry) {
    return std::pair(entry.second->source().begin.line, entry.second->source().begin.column);
  });
  for (const auto& [name, inner] : tables) {
    try {
      add_variant(variants, variant_of(variants, name, *inner, file));
    } catch (const UsageError& error) {
      throw UsageError(fmt::format("{}: [variant.{}] {}", file, name, error.what()));
    }
  }
}

void add_variants_of_file(std::vector<Variant>& variants, const std::filesystem::path& file) {
  const toml::table table = read_toml(file);
  if (!table.contains("variant")) {
    throw UsageError(fmt::format("'{}' has no [variant.NAME]", file.string()));
  }
  add_variants_of_table(variants, table, file.string());
}

}  // namespace aurora

// Names of enumerators for configuration files and messages, and help with misspelt names.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aurora/core/errors.hpp"

namespace aurora {

/// Specialise with `static constexpr std::pair<E, std::string_view> entries[]` for an enumeration
/// whose enumerators have names that users write.
template <class E>
struct Names;

template <class E>
std::string_view name_of(E value) {
  for (const auto& [enumerator, name] : Names<E>::entries) {
    if (enumerator == value) return name;
  }
  return "?";
}

template <class E>
std::vector<std::string> names_of() {
  std::vector<std::string> names;
  for (const auto& entry : Names<E>::entries) names.emplace_back(entry.second);
  return names;
}

/// "; did you mean 'X'?", where X is the candidate that begins with `name`, or else the one with
/// the smallest edit distance to it; nothing if there is none that comes near.
std::string did_you_mean(std::string_view name, std::span<const std::string> candidates);

/// "there is no WHAT 'NAME'; did you mean 'X'? (known: A, B, X)": throws UsageError.
[[noreturn]] void throw_unknown(std::string_view what, std::string_view name,
                                std::span<const std::string> candidates);

template <class E>
E parse_name(std::string_view what, std::string_view name) {
  for (const auto& [enumerator, known] : Names<E>::entries) {
    if (known == name) return enumerator;
  }
  throw_unknown(what, name, names_of<E>());
}

}  // namespace aurora

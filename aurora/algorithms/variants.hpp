// The variants of the paper's table (section V-A; specification 6) and a few more: names for common
// mixes of {loop, descriptor, container, threshold, selector}. A variant only sets fields of
// AlgorithmConfig, so whatever it says can be changed afterwards, and mixes without a name are as
// good as those with one.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "aurora/algorithms/config.hpp"

namespace aurora {

/// A row of the table, in the words of the configuration.
struct VariantEntry {
  std::string pattern;  // "aurora-csc-uniform-n": n is the dimension of the descriptor, 1..1000
  std::string algorithm;
  std::string descriptor;
  std::string container;  // "-" for loops with one of their own
  std::string threshold;  // "-" where there is none
  std::string selection;
  std::string summary;
  std::string section;  // of the paper; "-" for those that are not in it
};

/// All variants: first those of the paper's table, in its order.
std::vector<VariantEntry> variants();

/// The full name of a variant: "aurora-csc-uniform" becomes "aurora-csc-uniform-10" (n = 10 unless
/// said). UsageError for unknown names, with the nearest known one, and for n outside 1..1000.
std::string canonical_variant(std::string_view name);

/// Sets the fields that the variant stands for and leaves all others alone. UsageError as above.
void apply_variant(std::string_view name, AlgorithmConfig& config);

}  // namespace aurora

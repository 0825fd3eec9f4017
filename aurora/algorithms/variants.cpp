#include "aurora/algorithms/variants.hpp"

#include <algorithm>
#include <charconv>

#include "aurora/core/errors.hpp"
#include "aurora/core/names.hpp"

namespace aurora {
namespace {

constexpr std::size_t kDefaultDimension = 10;
constexpr std::size_t kMaxDimension = 1000;

struct Variant {
  std::string_view stem;  // the name without its dimension
  AlgorithmKind kind;
  DescriptorKind descriptor;
  ContainerKind container;  // of the quality-diversity loop, as is the next one
  ThresholdKind threshold;
  SelectionKind selection;
  std::string_view summary;
  std::string_view section;

  /// Learned descriptors have a dimension, and the name ends with it.
  bool has_dimension() const { return descriptor == DescriptorKind::learned; }
  bool has_container() const { return kind == AlgorithmKind::quality_diversity; }
  bool has_threshold() const { return has_container() && threshold != ThresholdKind::none; }
};

using Loop = AlgorithmKind;
using Descriptor = DescriptorKind;
using Keep = ContainerKind;
using Distance = ThresholdKind;
using Select = SelectionKind;

constexpr Variant kVariants[] = {
    {"aurora-csc-uniform", Loop::quality_diversity, Descriptor::learned, Keep::unstructured,
     Distance::csc, Select::uniform, "AURORA with container size control", "V-A.1"},
    {"aurora-csc-novelty", Loop::quality_diversity, Descriptor::learned, Keep::unstructured,
     Distance::csc, Select::novelty, "prefers parents far from their neighbours", "V-A.1"},
    {"aurora-csc-surprise", Loop::quality_diversity, Descriptor::learned, Keep::unstructured,
     Distance::csc, Select::surprise, "prefers parents the encoder reconstructs badly", "V-A.1"},
    {"aurora-vat-uniform", Loop::quality_diversity, Descriptor::learned, Keep::unstructured,
     Distance::vat, Select::uniform, "AURORA with the volume adaptive threshold", "V-A.1"},
    {"aurora-vat-novelty", Loop::quality_diversity, Descriptor::learned, Keep::unstructured,
     Distance::vat, Select::novelty, "the same, preferring novel parents", "V-A.1"},
    {"taxons", Loop::taxons, Descriptor::learned, Keep::unstructured, Distance::csc,
     Select::novelty_surprise, "a population that seeks novelty and surprise", "V-A.1"},
    {"hc-csc-uniform", Loop::quality_diversity, Descriptor::hand_coded, Keep::unstructured,
     Distance::csc, Select::uniform, "told what to look at: the upper baseline", "V-A.2"},
    {"random-search", Loop::quality_diversity, Descriptor::hand_coded, Keep::unstructured,
     Distance::csc, Select::none, "every genotype drawn afresh: the lower baseline", "V-A.2"},
    {"ns", Loop::novelty_search, Descriptor::hand_coded, Keep::unstructured, Distance::csc,
     Select::novelty, "Novelty Search", "V-A.2"},
    {"aurora-pid-uniform", Loop::quality_diversity, Descriptor::learned, Keep::unstructured,
     Distance::pid, Select::uniform, "AURORA with a PID controller of the size", "VII"},
    {"map-elites", Loop::quality_diversity, Descriptor::hand_coded, Keep::grid, Distance::none,
     Select::uniform, "the fittest of each cell of a grid", "-"},
    {"cvt-map-elites", Loop::quality_diversity, Descriptor::hand_coded, Keep::cvt, Distance::none,
     Select::uniform, "the fittest of each Voronoi cell", "-"},
};

/// A name taken apart.
struct Parsed {
  const Variant* variant;
  std::size_t dimension;
};

bool all_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

[[noreturn]] void throw_unknown_variant(std::string_view name) {
  // Compare with names that end as the user's does, so that "aurora-cs-uniform-5" finds "...-5".
  const std::size_t dash = name.rfind('-');
  const bool has_number = dash != std::string_view::npos && all_digits(name.substr(dash + 1));
  const std::string number(has_number ? name.substr(dash + 1) : "10");
  std::vector<std::string> candidates;
  std::string known;
  for (const Variant& variant : kVariants) {
    const std::string stem(variant.stem);
    candidates.push_back(stem);
    if (variant.has_dimension()) candidates.back().append("-").append(number);
    known.append(known.empty() ? "" : ", ").append(stem);
    if (variant.has_dimension()) known.append("-n");
  }
  throw UsageError("there is no variant '" + std::string(name) + "'; did you mean '" +
                   nearest_name(name, candidates) + "'? (known: " + known + ")");
}

std::size_t parse_dimension(std::string_view name, std::string_view digits) {
  std::size_t dimension = 0;
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), dimension);
  if (error != std::errc() || dimension < 1 || dimension > kMaxDimension) {
    throw UsageError("the variant '" + std::string(name) +
                     "' ends with the dimension of its descriptor, which must be an integer from 1 "
                     "to " +
                     std::to_string(kMaxDimension) + ", not " + std::string(digits));
  }
  return dimension;
}

Parsed parse(std::string_view name) {
  for (const Variant& variant : kVariants) {
    if (name == variant.stem) return {&variant, kDefaultDimension};
    if (!variant.has_dimension() || !name.starts_with(variant.stem)) continue;
    const std::string_view rest = name.substr(variant.stem.size());
    if (rest.starts_with('-') && all_digits(rest.substr(1))) {
      return {&variant, parse_dimension(name, rest.substr(1))};
    }
  }
  throw_unknown_variant(name);
}

}  // namespace

std::vector<VariantEntry> variants() {
  std::vector<VariantEntry> entries;
  for (const Variant& variant : kVariants) {
    entries.push_back(
        {.pattern = std::string(variant.stem) + (variant.has_dimension() ? "-n" : ""),
         .algorithm = std::string(name_of(variant.kind)),
         .descriptor = std::string(name_of(variant.descriptor)),
         .container = std::string(variant.has_container() ? name_of(variant.container) : "-"),
         .threshold = std::string(variant.has_threshold() ? name_of(variant.threshold) : "-"),
         .selection = std::string(name_of(variant.selection)),
         .summary = std::string(variant.summary),
         .section = std::string(variant.section)});
  }
  return entries;
}

std::string canonical_variant(std::string_view name) {
  const auto [variant, dimension] = parse(name);
  std::string full(variant->stem);
  if (variant->has_dimension()) full.append("-").append(std::to_string(dimension));
  return full;
}

void apply_variant(std::string_view name, AlgorithmConfig& config) {
  const auto [variant, dimension] = parse(name);
  config.kind = variant->kind;
  config.descriptor = variant->descriptor;
  config.container = variant->container;
  config.threshold.kind = variant->threshold;
  config.selection = variant->selection;
  if (variant->has_dimension()) config.dimension = dimension;
}

}  // namespace aurora

#include "aurora/algorithms/variants.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "aurora/core/errors.hpp"

namespace aurora {
namespace {

std::string error_of(const std::string& name) {
  AlgorithmConfig config;
  try {
    apply_variant(name, config);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(Variants, TheLoopGoesWithTheName) {
  const auto config = [](const char* name) {
    AlgorithmConfig made;
    apply_variant(name, made);
    return made;
  };
  EXPECT_EQ(config("aurora-csc-uniform").kind, AlgorithmKind::quality_diversity);
  EXPECT_EQ(config("taxons-10").kind, AlgorithmKind::taxons);
  EXPECT_EQ(config("ns").kind, AlgorithmKind::novelty_search);
}

TEST(Variants, TheContainerGoesWithTheName) {
  const auto container = [](const char* name) {
    AlgorithmConfig made;
    made.container = ContainerKind::grid;
    apply_variant(name, made);
    return made.container;
  };
  EXPECT_EQ(container("hc-csc-uniform"), ContainerKind::unstructured);
  EXPECT_EQ(container("map-elites"), ContainerKind::grid);
  EXPECT_EQ(container("cvt-map-elites"), ContainerKind::cvt);
}

TEST(Variants, EachNameSetsItsParts) {
  struct Case {
    std::string name;
    DescriptorKind descriptor;
    ThresholdKind threshold;
    SelectionKind selection;
    std::size_t dimension;  // 77: left alone
  };
  const std::vector<Case> cases = {
      {"aurora-csc-uniform-10", DescriptorKind::learned, ThresholdKind::csc, SelectionKind::uniform,
       10},
      {"aurora-csc-uniform", DescriptorKind::learned, ThresholdKind::csc, SelectionKind::uniform,
       10},
      {"aurora-csc-uniform-5", DescriptorKind::learned, ThresholdKind::csc, SelectionKind::uniform,
       5},
      {"aurora-csc-uniform-1", DescriptorKind::learned, ThresholdKind::csc, SelectionKind::uniform,
       1},
      {"aurora-csc-uniform-1000", DescriptorKind::learned, ThresholdKind::csc,
       SelectionKind::uniform, 1000},
      {"aurora-csc-novelty-2", DescriptorKind::learned, ThresholdKind::csc, SelectionKind::novelty,
       2},
      {"aurora-csc-surprise-20", DescriptorKind::learned, ThresholdKind::csc,
       SelectionKind::surprise, 20},
      {"aurora-vat-uniform-3", DescriptorKind::learned, ThresholdKind::vat, SelectionKind::uniform,
       3},
      {"aurora-vat-novelty", DescriptorKind::learned, ThresholdKind::vat, SelectionKind::novelty,
       10},
      {"hc-csc-uniform", DescriptorKind::hand_coded, ThresholdKind::csc, SelectionKind::uniform,
       77},
      {"random-search", DescriptorKind::hand_coded, ThresholdKind::csc, SelectionKind::none, 77},
      {"aurora-pid-uniform-4", DescriptorKind::learned, ThresholdKind::pid, SelectionKind::uniform,
       4},
      {"taxons-7", DescriptorKind::learned, ThresholdKind::csc, SelectionKind::novelty_surprise, 7},
      {"ns", DescriptorKind::hand_coded, ThresholdKind::csc, SelectionKind::novelty, 77},
      {"map-elites", DescriptorKind::hand_coded, ThresholdKind::none, SelectionKind::uniform, 77},
      {"cvt-map-elites", DescriptorKind::hand_coded, ThresholdKind::none, SelectionKind::uniform,
       77},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    AlgorithmConfig config;
    config.dimension = 77;
    config.threshold.kind = ThresholdKind::fixed;
    config.selection = SelectionKind::novelty_surprise;
    config.target_size = 123;
    apply_variant(c.name, config);
    EXPECT_EQ(config.descriptor, c.descriptor);
    EXPECT_EQ(config.threshold.kind, c.threshold);
    EXPECT_EQ(config.selection, c.selection);
    EXPECT_EQ(config.dimension, c.dimension);
    EXPECT_EQ(config.target_size, 123U) << "a variant must leave other fields alone";
  }
}

TEST(Variants, CanonicalNamesCarryTheDimension) {
  EXPECT_EQ(canonical_variant("aurora-csc-uniform"), "aurora-csc-uniform-10");
  EXPECT_EQ(canonical_variant("aurora-csc-novelty-007"), "aurora-csc-novelty-7");
  EXPECT_EQ(canonical_variant("hc-csc-uniform"), "hc-csc-uniform");
  for (const VariantEntry& entry : variants()) {
    const std::string name = entry.pattern.ends_with("-n")
                                 ? entry.pattern.substr(0, entry.pattern.size() - 1) + "3"
                                 : entry.pattern;
    EXPECT_EQ(canonical_variant(name), name);
  }
}

TEST(Variants, UnknownNamesFindTheNearest) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"aurora-csc-unifrom-10", "'aurora-csc-uniform-10'"},
      {"aurora-cs-novelty-5", "'aurora-csc-novelty-5'"},
      {"aurora-csc-uniform-n", "'aurora-csc-uniform-10'"},
      {"aurora-csc-uniform-", "'aurora-csc-uniform-10'"},
      {"aurora-csc-uniform-10x", "'aurora-csc-uniform-10'"},
      {"aurora-csc-uniform--5", "'aurora-csc-uniform-5'"},
      {"hc-csc-uniform-2", "'hc-csc-uniform'"},
      {"HC-csc-uniform", "'hc-csc-uniform'"},
      {"random", "'random-search'"},
  };
  for (const auto& [name, nearest] : cases) {
    const std::string message = error_of(name);
    EXPECT_NE(message.find("'" + name + "'"), std::string::npos) << message;
    EXPECT_NE(message.find("did you mean " + nearest), std::string::npos) << message;
    EXPECT_NE(message.find("aurora-csc-surprise-n"), std::string::npos) << message;
  }
  EXPECT_NE(error_of(""), "");
}

TEST(Variants, DimensionsOutOfRangeNameTheRange) {
  for (const std::string number : {"0", "1001", "99999999999999999999999"}) {
    const std::string message = error_of("aurora-csc-uniform-" + number);
    EXPECT_NE(message.find("from 1 to 1000, not " + number), std::string::npos) << message;
  }
}

TEST(Variants, TheTableSaysWhatEachIsMadeOf) {
  const std::vector<VariantEntry> table = variants();
  ASSERT_GE(table.size(), 5U);
  EXPECT_EQ(table[0].pattern, "aurora-csc-uniform-n");
  for (const VariantEntry& entry : table) {
    SCOPED_TRACE(entry.pattern);
    const std::string stem =
        entry.pattern.substr(0, entry.pattern.size() - (entry.pattern.ends_with("-n") ? 2 : 0));
    AlgorithmConfig config;
    apply_variant(stem, config);
    EXPECT_EQ(entry.descriptor, name_of(config.descriptor));
    EXPECT_EQ(entry.algorithm, name_of(config.kind));
    const bool population = config.kind != AlgorithmKind::quality_diversity;
    EXPECT_EQ(entry.container, population ? "-" : name_of(config.container));
    const bool free = population || config.threshold.kind == ThresholdKind::none;
    EXPECT_EQ(entry.threshold, free ? "-" : name_of(config.threshold.kind));
    EXPECT_EQ(entry.selection, name_of(config.selection));
    EXPECT_FALSE(entry.summary.empty());
    EXPECT_FALSE(entry.section.empty());
  }
}

}  // namespace
}  // namespace aurora

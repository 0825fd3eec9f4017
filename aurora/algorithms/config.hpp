// What an algorithm is made of: one plain struct with defaults, filled in by the task, the variant
// and the user, in this order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "aurora/containers/threshold.hpp"
#include "aurora/containers/unstructured_archive.hpp"
#include "aurora/core/names.hpp"
#include "aurora/encoders/encoder.hpp"
#include "aurora/evolution/selector.hpp"
#include "aurora/evolution/variation.hpp"

namespace aurora {

/// Where descriptors come from: an encoder, or the first two values of the ground truth.
enum class DescriptorKind { learned, hand_coded };

template <>
struct Names<DescriptorKind> {
  static constexpr std::pair<DescriptorKind, std::string_view> entries[] = {
      {DescriptorKind::learned, "learned"}, {DescriptorKind::hand_coded, "hand-coded"}};
};

/// The loop: children of the container's members (quality-diversity), or of a population beside it.
enum class AlgorithmKind { quality_diversity, taxons, novelty_search };

template <>
struct Names<AlgorithmKind> {
  static constexpr std::pair<AlgorithmKind, std::string_view> entries[] = {
      {AlgorithmKind::quality_diversity, "quality-diversity"},
      {AlgorithmKind::taxons, "taxons"},
      {AlgorithmKind::novelty_search, "novelty-search"}};
};

/// Who may join the container. unstructured: whoever keeps his distance (the archive with a
/// threshold). grid, cvt: the fittest of each cell of a grid, or of a centroidal Voronoi
/// tessellation, over the bounds of the hand-coded descriptor.
enum class ContainerKind { unstructured, grid, cvt };

template <>
struct Names<ContainerKind> {
  static constexpr std::pair<ContainerKind, std::string_view> entries[] = {
      {ContainerKind::unstructured, "unstructured"},
      {ContainerKind::grid, "grid"},
      {ContainerKind::cvt, "cvt"}};
};

/// Of the population loops; the population is as large as the batch.
struct PopulationConfig {
  std::size_t added = 5;  // Q: individuals added to the container in a generation
  double unvaried = 0.1;  // TAXONS: probability that a child is a plain copy
};

struct AlgorithmConfig {
  AlgorithmKind kind = AlgorithmKind::quality_diversity;
  PopulationConfig population;

  DescriptorKind descriptor = DescriptorKind::learned;
  std::size_t dimension = 10;  // n, of learned descriptors
  EncoderConfig encoder;
  std::size_t encoder_step = 10;  // T_E: updates at T_E, 3 T_E, 6 T_E, 10 T_E, ...

  ContainerKind container = ContainerKind::unstructured;
  ArchiveConfig archive;            // of cells: k alone
  std::size_t target_size = 10000;  // N; of cells: their number
  std::size_t update_period = 10;   // T_C
  ThresholdConfig threshold;

  SelectionKind selection = SelectionKind::uniform;
  VariationConfig variation;

  std::size_t batch = 128;  // B
  std::uint64_t seed = 1;
};

}  // namespace aurora

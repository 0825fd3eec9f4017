#include "aurora/algorithms/containers.hpp"

#include <string>
#include <utility>
#include <vector>

#include "aurora/algorithms/offspring.hpp"
#include "aurora/containers/cell_archive.hpp"
#include "aurora/containers/centroids.hpp"
#include "aurora/core/errors.hpp"

namespace aurora {
namespace {

std::unique_ptr<Cells> cells_of(const TaskSpec& task, const AlgorithmConfig& config,
                                Workers& workers) {
  std::vector<Interval> box;
  for (std::size_t i = 0; i < kHandCodedSize; ++i) {
    box.push_back({task.ground_truth[i].min, task.ground_truth[i].max});
  }
  if (config.container == ContainerKind::grid) {
    return std::make_unique<GridCells>(std::move(box), config.target_size);
  }
  const Matrix<float> centroids =
      voronoi_centroids(config.target_size, kHandCodedSize, config.seed, workers);
  return std::make_unique<VoronoiCells>(std::move(box), centroids);
}

}  // namespace

void check_container(const AlgorithmConfig& config) {
  const auto refuse = [&](const std::string& what, const std::string& reason) {
    throw UsageError("container.kind=" + std::string(name_of(config.container)) +
                     " does not go with " + what + ": " + reason);
  };
  const std::string threshold = "threshold.kind=" + std::string(name_of(config.threshold.kind));
  const bool has_threshold = config.threshold.kind != ThresholdKind::none;
  if (config.container == ContainerKind::unstructured) {
    if (config.kind == AlgorithmKind::quality_diversity && !has_threshold) {
      refuse(threshold,
             "only the threshold keeps its members apart; use threshold.kind=csc, vat, pid or "
             "fixed, or container.kind=grid or cvt");
    }
    return;
  }
  if (config.kind != AlgorithmKind::quality_diversity) {
    refuse("algorithm.kind=" + std::string(name_of(config.kind)),
           "a population appends its best children to a container that nobody leaves; use "
           "algorithm.kind=quality-diversity");
  }
  if (config.descriptor == DescriptorKind::learned) {
    refuse("descriptor.kind=learned",
           "cells need bounds that stay, and a learned descriptor has none; use "
           "descriptor.kind=hand-coded");
  }
  if (has_threshold) {
    refuse(threshold, "cells have no distance threshold; use threshold.kind=none");
  }
}

std::unique_ptr<Container> container_of(const TaskSpec& task, const AlgorithmConfig& config,
                                        Workers& workers) {
  check_container(config);
  const IndividualsLayout layout = layout_of(task, config);
  if (config.container == ContainerKind::unstructured) {
    return std::make_unique<UnstructuredArchive>(layout, config.archive);
  }
  return std::make_unique<CellArchive>(layout, cells_of(task, config, workers), config.archive.k);
}

}  // namespace aurora

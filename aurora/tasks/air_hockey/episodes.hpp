// Episodes of the Air-Hockey arm without a physics engine: our own, in single precision, several
// robots at once. docs/tasks/air-hockey.md has the equations.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "aurora/core/matrix.hpp"
#include "aurora/tasks/air_hockey/table.hpp"

namespace aurora::air_hockey {

/// Robots that fill the widest registers; batches that are a multiple of this are the fastest.
inline constexpr std::size_t kRobotsAtOnce = 16;

/// An episode of every row: the same bits at any place in any batch and on every processor. Genes
/// have been checked.
void run_episodes(MatrixView<const float> genotypes, std::span<Episode> episodes);

/// An episode of one robot, one number at a time, with the same bits as in a batch: what batches
/// are tested against. `trace` is overwritten and has kSteps entries after.
Episode trace_episode(std::span<const float> genes, std::vector<Moment>& trace);

}  // namespace aurora::air_hockey

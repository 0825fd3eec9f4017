// How many ways lead to the same place (docs/algorithms.md).
#pragma once

#include "aurora/core/sensory_data.hpp"

namespace aurora {

/// Trajectory diversity in %, on a 10 x 10 grid over [-1, 1]^2: the score of a cell is the share of
/// the 100 cells that are visited by any point of any trajectory that ends in it, 0 if none does;
/// the result is the mean over all cells. A row is a sequence of (x, y); points outside are
/// dropped, and so is a trajectory that ends outside.
double trajectory_diversity(SensoryView trajectories);

}  // namespace aurora

// How long a planned run will take on one thread of this machine, from what its parts take now, and
// how much memory.
#pragma once

#include "aurora/experiments/experiment.hpp"

namespace aurora {

/// Seconds on one thread.
struct Costs {
  double evaluation = 0;  // of one genotype
  double encoding = 0;    // of one individual; 0 if there is no encoder, as is the next
  double training = 0;    // of one individual in one epoch
  double memory = 0;      // bytes that this process has had at most, program and libraries too
};

/// Evaluates a few genotypes, and trains and encodes on what they sense: seconds, or less.
Costs measure_costs(const Plan& plan);

struct Estimate {
  double simulation = 0;
  double encoder = 0;  // training and encoding, re-training from scratch too
  double memory = 0;   // bytes at most, on one thread
};

/// Counts what a run will do. Two numbers are not known before and rest on the runs of the paper's
/// small copy: of the evaluations a quarter joins the container until it is full, and a training
/// stops after half of its epochs. The work of the container itself and the files are left out.
/// Memory is that of the measurement, the container at its end, twice (a checkpoint is a copy), and
/// what a training takes of it as numbers.
Estimate estimate(const PlannedRun& run, const Costs& costs);

/// How many times as fast a batch is simulated by so many threads, of one process or of many, if
/// messages took no time: the task's lanes are not cut apart, and nobody has half a piece.
double simulation_speedup(const Plan& plan, std::size_t threads);

/// Of the re-training alone; nothing if the run is not to be re-trained.
Estimate estimate_retraining(const PlannedRun& run, const Costs& costs);

}  // namespace aurora

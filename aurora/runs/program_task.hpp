// A task that is a program of its own, in whatever language. It is run by the shell, as often as
// there are threads, and is told genotypes on its standard input, a line each. It says one line
// about itself, and then a line about each genotype, on its standard output, both as JSON:
//
//   it says     {"task": "thrower", "genes": 3, "sensory": [32, 2],
//                "ground_truth": {"x": [0, 4], "y": [0, 3]}, "worst_fitness": -36}
//   it is told  0.25 0.5 0.75
//   it says     {"fitness": -9, "ground_truth": [1.2, 0.4], "sensory": [[2, 1], [2.1, 1.2], ...]}
//
// docs/own-robot.md has all of it, and a robot in Python.
#pragma once

#include <string>

#include "aurora/tasks/task.hpp"

namespace aurora {

/// The task that `command` is, by the name that it gives itself. UsageError if it does not start,
/// ends at once, or says nothing that describes a task.
///
/// A program that ends in the middle of an evaluation is started again and asked once more; if that
/// ends it too, the evaluation fails, and the others go on.
TaskEntry program_task(const std::string& command);

}  // namespace aurora

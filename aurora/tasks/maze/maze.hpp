// The Maze task (paper, section VI): a wheeled robot in the hard maze, seen from above at the end,
// or known by where it was or by what it sensed itself.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "aurora/core/names.hpp"
#include "aurora/tasks/maze/map.hpp"
#include "aurora/tasks/maze/picture.hpp"
#include "aurora/tasks/maze/rays.hpp"
#include "aurora/tasks/maze/robot.hpp"
#include "aurora/tasks/task.hpp"

namespace aurora {

namespace maze {

/// picture: 64 x 64 pixels at the end. trajectory: 50 places (x, y) on the way. lasers: what the
/// three lasers read at these 50 moments.
enum class Sensory { picture, trajectory, lasers };

}  // namespace maze

template <>
struct Names<maze::Sensory> {
  static constexpr std::pair<maze::Sensory, std::string_view> entries[] = {
      {maze::Sensory::picture, "picture"},
      {maze::Sensory::trajectory, "trajectory"},
      {maze::Sensory::lasers, "lasers"}};
};

/// 42 genes give a recurrent controller with lasers and bumpers; after 2000 steps the ground truth
/// is the robot's x, y and heading, and the fitness minus the sum of squared commands. Takes about
/// 70 ms and 22 MB to build; constant after.
class Maze : public Task {
 public:
  explicit Maze(maze::Sensory sensory = maze::Sensory::picture);

  const TaskSpec& spec() const override { return spec_; }
  void evaluate(MatrixView<const float> genotypes, EvaluationView out) const override;
  Drawing draw(std::span<const float> genotype) const override;
  Image backdrop() const override;

  /// Every step of one individual's episode; the same bits as evaluate() gives.
  std::vector<maze::Moment> trace(std::span<const float> genotype) const;

  const maze::Map& map() const { return map_; }

 private:
  maze::Sensory sensory_;
  TaskSpec spec_;
  maze::Map map_;
  maze::RayTable rays_;
  maze::Picture picture_;
};

}  // namespace aurora

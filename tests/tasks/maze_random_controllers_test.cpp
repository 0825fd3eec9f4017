// What uniformly random controllers do, against the statistics of the specification.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <set>
#include <thread>

#include "aurora/core/parallel.hpp"
#include "aurora/core/random.hpp"
#include "aurora/tasks/maze/maze.hpp"

namespace aurora {
namespace {

TEST(MazeRandomControllers, FillTheGridAndMoveAsTheSpecificationSays) {
  constexpr std::uint64_t kSeed = 1;
  constexpr std::size_t kCount = 64000;
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  const maze::Map map;
  const maze::RayTable rays(map);
  std::vector<maze::Episode> episodes(kCount);
  Workers workers(std::max(1U, std::thread::hardware_concurrency()));
  workers.parallel_for(kCount, 256, [&](std::size_t begin, std::size_t end) {
    std::array<float, maze::kGenes> genes;
    for (std::size_t n = begin; n < end; ++n) {
      Stream stream(kSeed, Purpose::genotype, 0, static_cast<std::uint32_t>(n));
      for (float& gene : genes) gene = static_cast<float>(stream.uniform());
      episodes[n] = maze::run_episode(map, rays, genes);
    }
  });

  // Percentage of the cells of a 40 x 40 grid that hold a final position of the first `count`.
  const auto filled = [&](std::size_t count) {
    std::set<std::pair<int, int>> cells;
    for (std::size_t n = 0; n < count; ++n) {
      cells.emplace(static_cast<int>(episodes[n].end.x / 15),
                    static_cast<int>(episodes[n].end.y / 15));
    }
    return 100.0 * static_cast<double>(cells.size()) / 1600;
  };
  double fitness = 0;
  for (const maze::Episode& episode : episodes) fitness += episode.fitness;

  EXPECT_NEAR(filled(3200), 14.2, 1.5);
  EXPECT_NEAR(filled(16000), 22.4, 1.5);
  EXPECT_NEAR(filled(kCount), 30.3, 1.5);
  // The standard error of the mean is 1.1.
  EXPECT_NEAR(fitness / kCount, -3933, 5);
  std::cout << "filled: " << filled(3200) << " % of 3,200, " << filled(16000) << " % of 16,000, "
            << filled(kCount) << " % of 64,000; mean fitness " << fitness / kCount << '\n';
}

}  // namespace
}  // namespace aurora

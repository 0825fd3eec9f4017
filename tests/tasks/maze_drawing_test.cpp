#include "aurora/tasks/maze/drawing.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "aurora/tasks/maze/maze.hpp"

namespace aurora::maze {
namespace {

TEST(MazeDrawing, TheFloorIsLightAndTheWallsAreDark) {
  std::vector<Moment> still(3);
  const Image picture = draw_episode(still).picture;
  const Map map;
  const double scale = static_cast<double>(picture.width) / kWorldSize;
  for (int j = 1; j < kMapSize - 1; ++j) {
    for (int i = 1; i < kMapSize - 1; ++i) {
      // Beside an edge a pixel of the map may be on its other side.
      const bool wall = map.wall({i, j});
      if (map.wall({i - 1, j}) != wall || map.wall({i + 1, j}) != wall ||
          map.wall({i, j - 1}) != wall || map.wall({i, j + 1}) != wall) {
        continue;
      }
      if (std::hypot(3 * i - kStartX, 3 * j - kStartY) < 2 * kRobotRadius) continue;
      const auto x = static_cast<std::size_t>(3 * i * scale);
      const auto y = static_cast<std::size_t>(3 * j * scale);
      EXPECT_EQ(picture.at(x, y).red < 128, wall) << i << ' ' << j;
    }
  }
}

TEST(MazeDrawing, TheBackdropIsTheMazeAlone) {
  const Image backdrop = Maze().backdrop();
  const Map map;
  const double scale = static_cast<double>(backdrop.width) / kWorldSize;
  EXPECT_EQ(backdrop.width, backdrop.height);
  int walls = 0;
  for (int j = 1; j < kMapSize - 1; ++j) {
    for (int i = 1; i < kMapSize - 1; ++i) {
      const bool wall = map.wall({i, j});
      if (map.wall({i - 1, j}) != wall || map.wall({i + 1, j}) != wall ||
          map.wall({i, j - 1}) != wall || map.wall({i, j + 1}) != wall) {
        continue;
      }
      const double from_ring =
          std::abs(std::hypot(3 * i - kStartX, 3 * j - kStartY) - kRobotRadius);
      if (from_ring < 6) continue;
      walls += wall ? 1 : 0;
      EXPECT_EQ(backdrop.at(static_cast<std::size_t>(3 * i * scale),
                            static_cast<std::size_t>(3 * j * scale))
                        .red < 128,
                wall)
          << i << ' ' << j;
    }
  }
  EXPECT_GT(walls, 100);
}

TEST(MazeDrawing, ShowsTheWholePathAndTheEnd) {
  const Maze maze;
  std::vector<float> genes(kGenes, 0.5F);
  genes[40] = genes[41] = 1;  // forward until a wall
  const auto trace = maze.trace(genes);
  const Drawing drawing = maze.draw(genes);
  EXPECT_EQ(drawing.film.size(), 100u);
  for (const Image& frame : drawing.film) EXPECT_EQ(frame.width, 512u);
  const double scale = static_cast<double>(drawing.picture.width) / kWorldSize;
  const auto pixel = [&](const Pose& pose) {
    return drawing.picture.at(static_cast<std::size_t>(pose.x * scale),
                              static_cast<std::size_t>(pose.y * scale));
  };
  for (std::size_t step = 5; step < 30; ++step) {
    const Colour colour = pixel(trace[step].pose);
    EXPECT_GT(colour.blue, colour.green + 60) << step;  // early: blue
  }
  Pose left_of_middle = trace.back().pose;  // it looks to the right
  left_of_middle.x -= 5;
  EXPECT_EQ(pixel(left_of_middle), (Colour{40, 90, 200}));
}

TEST(MazeDrawing, NoEpisodeNoDrawing) {
  EXPECT_TRUE(draw_episode({}).picture.empty());
}

}  // namespace
}  // namespace aurora::maze

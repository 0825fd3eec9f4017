// The nearest-neighbour index against nanoflann and a plain scan, and the archive on top of it:
// one table, everything in one process and on one thread. Points are either uniform in the unit
// cube (the hardest case for any index) or on a curved 2-d sheet, as the descriptors of behaviours
// with two degrees of freedom are.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <functional>
#include <limits>
#include <nanoflann.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "aurora/containers/nearest_neighbours.hpp"
#include "aurora/containers/threshold.hpp"
#include "aurora/containers/unstructured_archive.hpp"
#include "aurora/core/matrix.hpp"
#include "aurora/core/parallel.hpp"
#include "aurora/core/random.hpp"

namespace {

using namespace aurora;

constexpr std::size_t kNeighbours = 16;
constexpr std::size_t kBatch = 128;

/// Processor time, not wall-clock time: everything runs on one thread, and the machine may be busy.
double seconds_of(const std::function<void()>& work) {
  const std::clock_t start = std::clock();
  work();
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

/// Items a second: repeats the work until at least 0.2 s have passed.
double rate(std::size_t items, const std::function<void()>& work) {
  double seconds = 0;
  std::size_t done = 0;
  for (work(); seconds < 0.2; done += items) seconds += seconds_of(work);
  return static_cast<double>(done) / seconds;
}

enum class Shape { cube, sheet };

Matrix<float> random_points(Shape shape, std::size_t count, std::size_t n, std::uint32_t seed) {
  Stream draw(seed, Purpose::user);
  Stream waves(1, Purpose::user, 1);
  Matrix<float> frequency(n, 3);
  for (std::size_t i = 0; i < 3 * n; ++i) {
    frequency.data()[i] = static_cast<float>(4 * waves.uniform() - 2);
  }
  Matrix<float> points(count, n);
  for (std::size_t i = 0; i < count; ++i) {
    const double u = draw.uniform();
    const double v = draw.uniform();
    for (std::size_t a = 0; a < n; ++a) {
      const auto f = frequency.row(a);
      points(i, a) = shape == Shape::cube
                         ? static_cast<float>(draw.uniform())
                         : static_cast<float>(std::sin(f[0] * u + f[1] * v + 3 * f[2]) +
                                              0.01 * (draw.uniform() - 0.5));
    }
  }
  return points;
}

/// What nanoflann wants to know of a matrix.
struct Points {
  const Matrix<float>& matrix;
  std::size_t kdtree_get_point_count() const { return matrix.rows(); }
  float kdtree_get_pt(std::size_t i, std::size_t a) const { return matrix(i, a); }
  template <class Box>
  bool kdtree_get_bbox(Box&) const {
    return false;
  }
};
using Tree = nanoflann::KDTreeSingleIndexAdaptor<nanoflann::L2_Simple_Adaptor<float, Points>,
                                                 Points, -1, std::uint32_t>;

/// The k nearest by computing all distances and selecting.
float scan(const Matrix<float>& points, std::span<const float> query,
           std::vector<std::pair<float, std::uint32_t>>& all) {
  all.clear();
  for (std::size_t i = 0; i < points.rows(); ++i) {
    const float* p = points.data() + i * query.size();
    float sum = 0;
    for (std::size_t a = 0; a < query.size(); ++a) sum += (p[a] - query[a]) * (p[a] - query[a]);
    all.emplace_back(sum, static_cast<std::uint32_t>(i));
  }
  std::ranges::nth_element(all, all.begin() + kNeighbours - 1);
  return all[kNeighbours - 1].first;
}

void query_table() {
  std::printf("Exact %zu nearest neighbours, queries/s on one thread\n", kNeighbours);
  std::printf("%-6s %7s %3s | %10s %10s %10s %10s | %9s %9s\n", "points", "N", "n", "index",
              "all of N", "nanoflann", "scan", "/nanofl.", "/scan");
  for (const Shape shape : {Shape::cube, Shape::sheet}) {
    for (const std::size_t size : {10'000, 100'000}) {
      for (const std::size_t n : {2, 10, 20}) {
        const Matrix<float> points = random_points(shape, size, n, 1);
        const Matrix<float> queries = random_points(shape, 500, n, 2);
        NeighbourIndex index(n);
        for (std::size_t i = 0; i < size; ++i) index.insert(i, points.row(i), i);
        const Points adaptor{points};
        const Tree tree(static_cast<int>(n), adaptor,
                        nanoflann::KDTreeSingleIndexAdaptorParams(10));

        std::vector<float> ours(queries.rows());
        std::vector<float> theirs(queries.rows());
        NeighbourIndex::Workspace workspace;
        const double index_rate = rate(queries.rows(), [&] {
          for (std::size_t i = 0; i < queries.rows(); ++i) {
            ours[i] = index.nearest(queries.row(i), kNeighbours, workspace).back().squared_distance;
          }
        });
        Workers one(1);
        const double all_rate = rate(size, [&] { index.mean_distances(kNeighbours, one); });
        const double tree_rate = rate(queries.rows(), [&] {
          std::uint32_t found[kNeighbours];
          float distances[kNeighbours];
          for (std::size_t i = 0; i < queries.rows(); ++i) {
            tree.knnSearch(queries.row(i).data(), kNeighbours, found, distances);
            theirs[i] = distances[kNeighbours - 1];
          }
        });
        std::vector<std::pair<float, std::uint32_t>> all;
        float last = 0;
        const double scan_rate = rate(50, [&] {
          for (std::size_t i = 0; i < 50; ++i) last = scan(points, queries.row(i), all);
        });
        bool equal = last == ours[49];
        for (std::size_t i = 0; i < ours.size(); ++i) {
          equal &= std::abs(ours[i] - theirs[i]) <= 1e-5F * theirs[i];
        }
        std::printf("%-6s %7zu %3zu | %10.0f %10.0f %10.0f %10.0f | %8.1fx %8.1fx%s\n",
                    shape == Shape::cube ? "cube" : "sheet", size, n, index_rate, all_rate,
                    tree_rate, scan_rate, index_rate / tree_rate, index_rate / scan_rate,
                    equal ? "" : "  DIFFERENT ANSWERS");
      }
    }
  }
}

/// An archive that has seen `count` random individuals, its threshold found by bisection so that
/// about `size` of them stay.
struct Filled {
  UnstructuredArchive archive;
  Individuals batch;
  double threshold = 0;
};

IndividualsLayout layout_of(std::size_t n) {
  return {.genotype_size = 10,
          .descriptor_size = n,
          .ground_truth_size = 2,
          .sensory = {.extents = {64, 64, 3}, .element = ElementType::uint8}};
}

Filled filled_archive(Shape shape, std::size_t size, std::size_t n) {
  Filled filled{UnstructuredArchive(layout_of(n), {}), Individuals(layout_of(n), kBatch)};
  const std::size_t count = 2 * size;
  const Matrix<float> points = random_points(shape, count, n, 3);
  filled.threshold = reseed_threshold(points, size, 0.0);
  Stream draw(4, Purpose::user);
  for (std::size_t i = 0; i < count; ++i) {
    std::ranges::copy(points.row(i), filled.batch.descriptors.row(0).begin());
    filled.batch.fitness[0] = -static_cast<float>(draw.uniform());
    filled.batch.ids[0] = i;
    filled.archive.add(filled.batch, 0, filled.threshold);
  }
  // The next batch: small steps from members, as variation makes them.
  const Individuals& members = filled.archive.individuals();
  for (std::size_t i = 0; i < kBatch; ++i) {
    const std::size_t parent = draw.below(members.size());
    for (std::size_t a = 0; a < n; ++a) {
      filled.batch.descriptors(i, a) =
          members.descriptors(parent, a) +
          static_cast<float>(filled.threshold / std::sqrt(n) * draw.normal());
    }
    filled.batch.fitness[i] = -static_cast<float>(draw.uniform());
    filled.batch.ids[i] = count + i;
  }
  return filled;
}

void archive_table() {
  std::printf(
      "\nUnstructured archive with pictures of 64 x 64 x 3 bytes, milliseconds, one thread\n");
  std::printf("%-6s %7s %3s | %10s %10s %10s %10s | %s\n", "points", "size", "n", "add 128",
              "update", "novelty", "diameter", "added/replaced of 128, lost");
  for (const Shape shape : {Shape::cube, Shape::sheet}) {
    for (const std::size_t size : {10'000, 20'000}) {
      for (const std::size_t n : {2, 10, 20}) {
        Filled filled = filled_archive(shape, size, n);
        UnstructuredArchive& archive = filled.archive;
        std::size_t added = 0;
        std::size_t replaced = 0;
        const double add = seconds_of([&] {
          for (std::size_t i = 0; i < kBatch; ++i) {
            const Outcome outcome = archive.add(filled.batch, i, filled.threshold);
            added += outcome == Outcome::added ? 1 : 0;
            replaced += outcome == Outcome::replaced ? 1 : 0;
          }
        });
        std::size_t lost = 0;
        double update = std::numeric_limits<double>::infinity();
        for (int i = 0; i < 3; ++i) {
          update = std::min(update, seconds_of([&] { lost += archive.update(filled.threshold); }));
        }
        Workers one(1);
        const double novelty = seconds_of([&] { archive.novelty(one); });
        const double diameter = seconds_of([&] { archive.diameter(one); });
        std::printf("%-6s %7zu %3zu | %10.2f %10.2f %10.2f %10.2f | %zu/%zu, %zu\n",
                    shape == Shape::cube ? "cube" : "sheet", archive.size(), n, 1e3 * add,
                    1e3 * update, 1e3 * novelty, 1e3 * diameter, added, replaced, lost);
      }
    }
  }
}

}  // namespace

int main() {
  query_table();
  archive_table();
}

// The nearest-neighbour index against nanoflann, and the archive on top of it; one thread. Points
// are either uniform in the unit cube (the hardest case for any index) or on a curved 2-d sheet, as
// the descriptors of behaviours with two degrees of freedom are.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <nanoflann.hpp>
#include <string>
#include <vector>

#include "aurora/containers/nearest_neighbours.hpp"
#include "aurora/containers/pid.hpp"
#include "aurora/containers/unstructured_archive.hpp"
#include "aurora/core/errors.hpp"
#include "aurora/core/matrix.hpp"
#include "aurora/core/parallel.hpp"
#include "aurora/core/random.hpp"
#include "table.hpp"

namespace aurora::bench {
namespace {

constexpr std::size_t kNeighbours = 16;
constexpr std::size_t kBatch = 128;
constexpr double kMultiplyAdds = 55e9;  // a second, on a core: a scan of all distances at best

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

std::string case_name(Shape shape, std::size_t size, std::size_t n) {
  return std::string(shape == Shape::cube ? "cube" : "sheet") + "/N=" + std::to_string(size) +
         "/n=" + std::to_string(n);
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

}  // namespace

void neighbour_rows(Table& table) {
  table.heading("Exact 16 nearest neighbours, one thread");
  for (const Shape shape : {Shape::cube, Shape::sheet}) {
    for (const std::size_t size : {10'000, 100'000}) {
      for (const std::size_t n : {2, 10, 20}) {
        const std::string name = "nearest/" + case_name(shape, size, n);
        if (!table.wanted(name)) continue;
        const Matrix<float> points = random_points(shape, size, n, 1);
        const Matrix<float> queries = random_points(shape, 200, n, 2);
        NeighbourIndex index(n);
        for (std::size_t i = 0; i < size; ++i) index.insert(i, points.row(i), i);
        const Points adaptor{points};
        const Tree tree(static_cast<int>(n), adaptor,
                        nanoflann::KDTreeSingleIndexAdaptorParams(10));
        std::vector<float> ours(queries.rows());
        std::vector<float> theirs(queries.rows());
        NeighbourIndex::Workspace workspace;
        const Work ask_index{
            queries.rows(), [&] {
              for (std::size_t i = 0; i < queries.rows(); ++i) {
                ours[i] =
                    index.nearest(queries.row(i), kNeighbours, workspace).back().squared_distance;
              }
            }};
        const Work ask_tree{queries.rows(), [&] {
                              std::uint32_t found[kNeighbours];
                              float distances[kNeighbours];
                              for (std::size_t i = 0; i < queries.rows(); ++i) {
                                tree.knnSearch(queries.row(i).data(), kNeighbours, found,
                                               distances);
                                theirs[i] = distances[kNeighbours - 1];
                              }
                            }};
        const double floor = kMultiplyAdds / static_cast<double>(size * n);
        table.measure(name, "queries/s", ask_index, "nanoflann", ask_tree, floor);
        for (std::size_t i = 0; i < ours.size(); ++i) {
          if (!(std::abs(ours[i] - theirs[i]) <= 1e-5F * theirs[i])) {
            throw DataError("the index and nanoflann disagree: " + name);
          }
        }
        Workers one(1);
        table.measure(name + "/all", "queries/s",
                      {size, [&] { index.mean_distances(kNeighbours, one); }},
                      "nanoflann, one by one", ask_tree, floor);
      }
    }
  }
}

void archive_rows(Table& table) {
  table.heading("Unstructured archive with pictures, one thread");
  for (const Shape shape : {Shape::cube, Shape::sheet}) {
    for (const std::size_t size : {10'000, 20'000}) {
      for (const std::size_t n : {2, 10, 20}) {
        const std::string name = "archive/" + case_name(shape, size, n);
        if (!table.wanted(name)) continue;
        Workers one(1);
        Filled filled = filled_archive(shape, size, n);
        UnstructuredArchive& archive = filled.archive;
        table.measure(name + "/add", "candidates/s", {kBatch, [&] {
                                                        for (std::size_t i = 0; i < kBatch; ++i) {
                                                          archive.add(filled.batch, i,
                                                                      filled.threshold);
                                                          filled.batch.ids[i] += kBatch;
                                                        }
                                                      }});
        table.measure(name + "/update", "members/s",
                      {archive.size(), [&] { archive.update(filled.threshold, one); }});
      }
    }
  }
}

}  // namespace aurora::bench

// A container with offspring but without a task, for the tests of the threshold.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "archive_oracle.hpp"
#include "aurora/containers/unstructured_archive.hpp"
#include "aurora/core/random.hpp"

namespace aurora {

/// A container fed by mutated copies of its members in the cube [0, scale]^n, 128 an iteration. The
/// container update, due every 10 iterations, is the caller's, as in the loop.
class SimulatedContainer {
 public:
  SimulatedContainer(std::size_t n, std::uint32_t seed)
      : archive(small_layout(n), {}), batch_(small_layout(n), 1), draw_(seed, Purpose::user) {}

  UnstructuredArchive archive;

  void iterate(double threshold) {
    for (int i = 0; i < 128; ++i) {
      const bool mutate = archive.size() > 0 && draw_.uniform() < 0.9;
      const std::size_t parent = mutate ? draw_.below(archive.size()) : 0;
      for (std::size_t a = 0; a < batch_.descriptors.cols(); ++a) {
        const double x =
            mutate ? archive.individuals().descriptors(parent, a) + 0.1 * scale_ * draw_.normal()
                   : scale_ * draw_.uniform();
        batch_.descriptors(0, a) = static_cast<float>(std::clamp(x, 0.0, scale_));
      }
      batch_.fitness[0] = -static_cast<float>(draw_.uniform());
      batch_.ids[0] = next_id_++;
      archive.add(batch_, 0, threshold);
    }
    ++iteration_;
  }

  bool update_due() const { return iteration_ % 10 == 0; }

  /// Keeps one in `n` members.
  void lose_all_but_one_in(std::size_t n) {
    Individuals kept = archive.individuals();
    const std::size_t count = kept.size() / n;
    for (std::size_t row = 0; row < count; ++row) kept.copy_row(kept, n * row, row);
    kept.resize(count);
    archive.restore(std::move(kept));
  }

  void rescale(double factor) {
    scale_ *= factor;
    Matrix<float> descriptors = archive.individuals().descriptors;
    for (std::size_t i = 0; i < descriptors.rows() * descriptors.cols(); ++i) {
      descriptors.data()[i] *= static_cast<float>(factor);
    }
    archive.set_descriptors(descriptors, {});
  }

 private:
  Individuals batch_;
  Stream draw_;
  double scale_ = 1;
  std::uint64_t next_id_ = 0;
  int iteration_ = 0;
};

}  // namespace aurora

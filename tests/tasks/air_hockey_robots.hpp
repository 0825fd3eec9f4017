// Genotypes of the Air-Hockey arm that tests are made with.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <span>

#include "aurora/core/matrix.hpp"
#include "aurora/core/random.hpp"
#include "aurora/tasks/air_hockey/table.hpp"

namespace aurora::air_hockey {

/// random: uniform genes. corners: all 0 or 1, the fastest arms and those that turn furthest.
/// folded: three joints far to one side, so that links lie on each other and on the base. hitting:
/// the arm sweeps across the puck. under_puck: the puck appears on top of the arm.
enum class Kind { random, corners, folded, hitting, under_puck };

inline constexpr Kind kKinds[] = {Kind::random, Kind::corners, Kind::folded, Kind::hitting,
                                  Kind::under_puck};

inline float gene_of(float angle) {
  return std::clamp((angle / std::numbers::pi_v<float> + 1) / 2, 0.0F, 1.0F);
}

inline Matrix<float> robots(Kind kind, std::size_t count, std::uint64_t seed) {
  constexpr float kHitting[kGenes] = {0.3F, 0.2F, 0.1F, 0, 1.2F, 0.4F, -0.2F, 0.1F};
  constexpr float kUnder[kGenes] = {0.95F, 0, 0, 0, 0, 0, 0, 0};
  Matrix<float> genotypes(count, kGenes);
  for (std::size_t n = 0; n < count; ++n) {
    Stream stream(seed, Purpose::genotype, static_cast<std::uint32_t>(kind),
                  static_cast<std::uint32_t>(n));
    const float side = stream.uniform() < 0.5 ? -1 : 1;
    for (std::size_t i = 0; i < kGenes; ++i) {
      const auto draw = static_cast<float>(stream.uniform());
      float gene = draw;
      if (kind == Kind::corners) gene = draw < 0.5F ? 0.0F : 1.0F;
      if (kind == Kind::folded && i % kJoints > 0) gene = gene_of(side * (2 + 1.2F * draw));
      if (kind == Kind::hitting) gene = gene_of(kHitting[i] + draw - 0.5F);
      if (kind == Kind::under_puck) {
        gene = gene_of(kUnder[i] + (i < kJoints ? 0.3F : 4) * (draw - 0.5F));
      }
      genotypes(n, i) = gene;
    }
  }
  return genotypes;
}

/// The joints' angles in (-pi, pi], from where the links are.
inline std::array<double, kJoints> angles_of(const Moment& moment) {
  std::array<double, kJoints> angles;
  double last = 0;
  for (std::size_t i = 0; i < kJoints; ++i) {
    const double direction =
        std::atan2(moment.arm[i + 1].y - moment.arm[i].y, moment.arm[i + 1].x - moment.arm[i].x);
    angles[i] = std::remainder(direction - last, 2 * std::numbers::pi);
    last = direction;
  }
  return angles;
}

}  // namespace aurora::air_hockey

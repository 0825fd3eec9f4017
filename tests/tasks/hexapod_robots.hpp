// Genotypes of the hexapod that tests are made with.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "aurora/core/matrix.hpp"
#include "aurora/core/random.hpp"
#include "aurora/tasks/hexapod/controller.hpp"

namespace aurora::hexapod {

/// random: uniform genes. strong: with amplitude 1. tripod: walkers, mutants of the tripod gait.
/// lying: femora up for most of the time: the robot falls on its base and lies there. leaning: legs
/// up on one side and down on the other. mixed: each gene 0, 1 or anything.
enum class Kind { random, strong, tripod, lying, leaning, mixed };

inline constexpr float kTripod[6][6] = {
    {1, 0, 0.5F, 0.25F, 0.25F, 0.5F},    {1, 0.5F, 0.5F, 0.25F, 0.75F, 0.5F},
    {1, 0, 0.5F, 0.25F, 0.25F, 0.5F},    {1, 0, 0.5F, 0.25F, 0.75F, 0.5F},
    {1, 0.5F, 0.5F, 0.25F, 0.25F, 0.5F}, {1, 0, 0.5F, 0.25F, 0.75F, 0.5F}};

inline Matrix<float> robots(Kind kind, std::size_t count, std::uint64_t seed) {
  Matrix<float> genotypes(count, kGenes);
  for (std::size_t n = 0; n < count; ++n) {
    Stream stream(seed, Purpose::genotype, static_cast<std::uint32_t>(kind),
                  static_cast<std::uint32_t>(n));
    for (std::size_t i = 0; i < kGenes; ++i) {
      const std::size_t part = i % 6;  // amplitude, phase, duty of the coxa; of femur and tibia
      const auto draw = static_cast<float>(stream.uniform());
      float gene = draw;
      if (kind == Kind::strong && part % 3 == 0) gene = 1;
      if (kind == Kind::tripod)
        gene = std::clamp(kTripod[i / 6][part] + 0.1F * (draw - 0.5F), 0.0F, 1.0F);
      if (kind == Kind::lying && part == 3) gene = 0.8F + 0.2F * draw;
      if (kind == Kind::lying && part == 5) gene = 0.1F * draw;
      if (kind == Kind::leaning && part == 3) gene = 1;
      if (kind == Kind::leaning && part == 5) gene = i / 6 < 3 ? 0.1F * draw : 1 - 0.1F * draw;
      if (kind == Kind::mixed)
        gene = draw < 0.3F ? 0.0F : draw > 0.7F ? 1.0F : 2.5F * (draw - 0.3F);
      genotypes(n, i) = std::clamp(gene, 0.0F, 1.0F);
    }
  }
  return genotypes;
}

}  // namespace aurora::hexapod

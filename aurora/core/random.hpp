// Counter-based random streams (Philox4x32-10; Salmon et al. 2011, from the Random123 library).
//
// A stream is addressed by (seed, purpose, iteration, index) and has no other state, so what is
// drawn never depends on threads, on the order of work, or on what was drawn elsewhere.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace aurora {

/// What a stream is for. The numbers are part of the reproducibility promise: never renumber.
enum class Purpose : std::uint32_t {
  genotype = 1,
  selection = 2,
  variation = 3,
  encoder_weights = 4,
  encoder_training = 5,
  criterion = 6,  // the coin that chooses between novelty and surprise
  centroids = 7,
  retraining = 8,  // of an encoder from scratch, after the run
  extinction = 9,  // who survives
  emitters = 10,   // where an emitter starts, and what it samples
  user = 1000,     // first number free for users of the library
};

class Stream {
 public:
  Stream(std::uint64_t seed, Purpose purpose, std::uint32_t iteration = 0, std::uint32_t index = 0);

  /// 32 random bits.
  std::uint32_t bits();
  /// Uniform in [0, 1), 53 random bits.
  double uniform();
  /// Uniform in {0, ..., n-1}, without bias; n > 0.
  std::uint64_t below(std::uint64_t n);
  /// Standard normal (Box-Muller, two uniforms a draw).
  double normal();
  /// 0 .. n-1 in random order (Fisher-Yates).
  std::vector<std::uint32_t> permutation(std::size_t n);

 private:
  std::array<std::uint32_t, 2> key_;
  std::array<std::uint32_t, 4> counter_;  // block, index, iteration, purpose
  std::array<std::uint32_t, 4> block_{};
  int used_ = 4;
};

}  // namespace aurora

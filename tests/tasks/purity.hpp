// What every task promises: the same genotype gives the same bits anywhere, on any thread.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "aurora/core/random.hpp"
#include "aurora/tasks/task.hpp"

namespace aurora {

inline Matrix<float> random_genotypes(const TaskSpec& spec, std::size_t count, std::uint64_t seed) {
  Matrix<float> genotypes(count, spec.genotype_size);
  for (std::size_t n = 0; n < count; ++n) {
    Stream stream(seed, Purpose::genotype, 0, static_cast<std::uint32_t>(n));
    for (float& gene : genotypes.row(n)) gene = static_cast<float>(stream.uniform());
  }
  return genotypes;
}

inline Evaluation evaluate(const Task& task, const Matrix<float>& genotypes) {
  Evaluation evaluation(task.spec(), genotypes.rows());
  task.evaluate(genotypes, evaluation.view());
  return evaluation;
}

/// Are row i of one and row j of the other the same, bit by bit?
inline bool same_bits(const Evaluation& one, std::size_t i, const Evaluation& other,
                      std::size_t j) {
  const auto equal = [](const auto& a, const auto& b) {
    return a.size_bytes() == b.size_bytes() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
  };
  return equal(std::span(&one.fitness[i], 1), std::span(&other.fitness[j], 1)) &&
         equal(one.ground_truth.row(i), other.ground_truth.row(j)) &&
         equal(one.sensory.view().bytes(i), other.sensory.view().bytes(j));
}

/// One batch against shuffled ones, against the individuals one by one and backwards with a new
/// task each, and against threads that share the task and evaluate everything at the same time.
template <class MakeTask>
void expect_pure(MakeTask make_task, std::size_t count, std::uint64_t seed) {
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  const auto task = make_task();
  const Matrix<float> genotypes = random_genotypes(task->spec(), count, seed);
  const Evaluation whole = evaluate(*task, genotypes);

  const auto shuffled_is_equal = [&](std::uint32_t shuffle) {
    const auto order = Stream(seed, Purpose::user, shuffle).permutation(count);
    Matrix<float> shuffled(count, genotypes.cols());
    for (std::size_t n = 0; n < count; ++n) {
      std::ranges::copy(genotypes.row(order[n]), shuffled.row(n).begin());
    }
    const Evaluation mixed = evaluate(*task, shuffled);
    for (std::size_t n = 0; n < count; ++n) {
      if (!same_bits(mixed, n, whole, order[n])) return false;
    }
    return true;
  };
  EXPECT_TRUE(shuffled_is_equal(1));

  Evaluation pieces(task->spec(), count);
  const auto fresh = make_task();
  for (std::size_t n = count; n-- > 0;) {
    fresh->evaluate(genotypes.view().slice(n, 1), pieces.view().slice(n, 1));
  }
  for (std::size_t n = 0; n < count; ++n) EXPECT_TRUE(same_bits(pieces, n, whole, n)) << n;

  constexpr std::size_t kThreads = 4;
  std::vector<char> equal(kThreads);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back(
        [&, t] { equal[t] = shuffled_is_equal(static_cast<std::uint32_t>(t + 2)) ? 1 : 0; });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(std::ranges::count(equal, 1), static_cast<std::ptrdiff_t>(kThreads));
}

}  // namespace aurora

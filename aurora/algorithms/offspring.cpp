#include "aurora/algorithms/offspring.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <span>

#include "aurora/core/errors.hpp"
#include "aurora/core/random.hpp"

namespace aurora {

Offspring::Offspring(const IndividualsLayout& layout, std::size_t batch, std::uint64_t seed)
    : seed_(seed), batch_(layout, batch), order_(batch) {
  if (batch == 0) throw UsageError("the batch must hold at least one genotype");
}

void Offspring::number(std::size_t iteration) {
  for (std::size_t i = 0; i < size(); ++i) batch_.ids[order_[i]] = (iteration - 1) * size() + i;
}

void Offspring::draw(std::size_t iteration, Workers& workers, MatrixView<const float> given) {
  workers.parallel_for(size(), 16, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      Stream stream(seed_, Purpose::genotype, address(iteration), address(i));
      for (float& gene : batch_.genotypes.row(i)) gene = static_cast<float>(stream.uniform());
      if (i < given.rows()) std::ranges::copy(given.row(i), batch_.genotypes.row(i).begin());
      order_[i] = address(i);
    }
  });
  simulated_ = size();
  number(iteration);
}

void Offspring::check(MatrixView<const float> given) const {
  if (given.rows() == 0) return;
  if (given.rows() > size() || given.cols() != batch_.genotypes.cols()) {
    throw UsageError(fmt::format(
        "solutions of one's own are at most {} rows (run.batch) of {} genes, not {} of {}", size(),
        batch_.genotypes.cols(), given.rows(), given.cols()));
  }
  const std::span genes(given.data(), given.rows() * given.cols());
  if (!std::ranges::all_of(genes, [](float gene) { return gene >= 0 && gene <= 1; })) {
    throw UsageError("solutions of one's own have genes in [0, 1]");
  }
}

void Offspring::breed(std::size_t iteration, const Variation& variation, const Individuals& from,
                      std::span<const std::uint32_t> parents, std::span<const std::uint32_t> mates,
                      double unvaried, MatrixView<const float> first) {
  assert(first.rows() + parents.size() == size() && mates.size() == parents.size());
  // Children that differ from their parent fill the batch from the front, clones from the back.
  for (std::size_t i = 0; i < first.rows(); ++i) {
    std::ranges::copy(first.row(i), batch_.genotypes.row(i).begin());
    order_[i] = address(i);
  }
  simulated_ = first.rows();
  std::size_t clones = 0;
  for (std::size_t i = first.rows(); i < size(); ++i) {
    Stream stream(seed_, Purpose::variation, address(iteration), address(i));
    const std::uint32_t parent_row = parents[i - first.rows()];
    const auto parent = from.genotypes.row(parent_row);
    const auto child = batch_.genotypes.row(simulated_);
    bool clone = unvaried > 0 && stream.uniform() < unvaried;
    if (!clone) {
      variation.vary(parent, from.genotypes.row(mates[i - first.rows()]), child, stream);
      clone = std::ranges::equal(parent, child);
    }
    if (clone) {
      order_[i] = address(size() - ++clones);
      batch_.copy_row(from, parent_row, order_[i]);
      std::ranges::fill(batch_.extra.row(order_[i]), 0.0F);  // it begins its own life
    } else {
      order_[i] = address(simulated_++);
    }
  }
  number(iteration);
}

EvaluationView Offspring::evaluation() {
  const EvaluationView all{batch_.fitness, batch_.sensory.mutable_view(),
                           batch_.ground_truth.view()};
  return all.slice(0, simulated_);
}

void Offspring::describe(const Encoder* encoder, bool with_errors, Workers& workers) {
  if (!encoder) {
    for (std::size_t i = 0; i < simulated_; ++i) {
      const std::span<float> descriptor = batch_.descriptors.row(i);
      std::ranges::copy(batch_.ground_truth.row(i).first(descriptor.size()), descriptor.begin());
    }
  } else if (simulated_ > 0) {
    const std::span<float> errors = batch_.reconstruction_error;
    encoder->encode(batch_.sensory.view().slice(0, simulated_),
                    batch_.descriptors.view().slice(0, simulated_),
                    errors.first(with_errors ? simulated_ : 0), workers);
  }
}

}  // namespace aurora

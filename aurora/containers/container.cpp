#include "aurora/containers/container.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "aurora/core/errors.hpp"

namespace aurora {

Container::Container(const IndividualsLayout& layout, std::size_t k)
    : individuals_(layout),
      index_(std::max<std::size_t>(layout.descriptor_size, 1)),
      novelty_(std::max<std::size_t>(k, 1)) {
  if (layout.descriptor_size == 0) {
    throw UsageError("a container needs descriptors of at least one dimension");
  }
  if (k == 0) throw UsageError("container.k must be at least 1");
  individuals_.sensory.freeze();
}

void Container::add_all(const Individuals& batch, std::span<const std::uint32_t> rows,
                        Workers& /*workers*/, std::span<Outcome> outcomes) {
  std::ranges::transform(rows, outcomes.begin(),
                         [&](std::uint32_t row) { return add(batch, row); });
}

std::size_t Container::append(const Individuals& batch, std::size_t row) {
  const std::size_t to = size();
  individuals_.resize(to + 1);
  individuals_.copy_row(batch, row, to);
  return to;
}

void Container::replace(std::size_t to, const Individuals& batch, std::size_t row) {
  if (notes_gains_) {
    gains_.push_back({batch.ids[row], batch.fitness[row] - individuals_.fitness[to]});
  }
  individuals_.copy_row(batch, row, to);
  index_.erase(to);
  index_.insert(to, batch.descriptors.row(row), batch.ids[row]);
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> Container::drop_rows_not_indexed() {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> moves;
  std::size_t end = size();
  for (std::size_t row = 0; row < index_.size(); ++row) {
    if (index_.contains(row)) continue;
    do --end;
    while (!index_.contains(end));
    individuals_.copy_row(individuals_, end, row);
    index_.rename(end, row);
    moves.emplace_back(static_cast<std::uint32_t>(end), static_cast<std::uint32_t>(row));
  }
  individuals_.resize(index_.size());
  return moves;
}

std::size_t Container::set_descriptors(MatrixView<const float> descriptors,
                                       std::span<const float> errors) {
  const std::size_t before = size();
  if (descriptors.rows() != before || descriptors.cols() != index_.dimension() ||
      (!errors.empty() && errors.size() != before)) {
    throw DataError("new descriptors must have a row for each of the " + std::to_string(before) +
                    " individuals and " + std::to_string(index_.dimension()) + " columns, not " +
                    std::to_string(descriptors.rows()) + " x " +
                    std::to_string(descriptors.cols()));
  }
  novelty_.clear();
  index_.clear();
  for (std::size_t row = 0; row < before; ++row) {
    std::ranges::copy(descriptors.row(row), individuals_.descriptors.row(row).begin());
    if (!errors.empty()) individuals_.reconstruction_error[row] = errors[row];
    if (all_finite(descriptors.row(row)) && std::isfinite(individuals_.reconstruction_error[row])) {
      index_.insert(row, descriptors.row(row), individuals_.ids[row]);
    }
  }
  drop_rows_not_indexed();
  return before - size();
}

void Container::retain(std::span<const std::uint32_t> rows) {
  std::vector<bool> stays(size());
  for (const std::uint32_t row : rows) stays[row] = true;
  for (std::size_t row = 0; row < stays.size(); ++row) {
    if (!stays[row]) index_.erase(row);
  }
  index_.tighten();
  drop_rows_not_indexed();
}

std::string Container::check(Workers& /*workers*/) const {
  check_ids(individuals_);
  for (std::size_t row = 0; row < size(); ++row) {
    if (!is_finite(individuals_, row)) {
      throw DataError("individual " + std::to_string(individuals_.ids[row]) +
                      " holds a number that is not finite");
    }
  }
  return "every number is finite, no id twice";
}

void Container::restore(Individuals individuals, const PartState& /*state*/) {
  if (!same_columns(individuals, individuals_)) {
    throw DataError("the columns of the individuals are not those of this container");
  }
  for (std::size_t row = 0; row < individuals.size(); ++row) {
    if (!is_finite(individuals, row)) {
      throw DataError("individual " + std::to_string(individuals.ids[row]) +
                      " holds a number that is not finite");
    }
  }
  check_ids(individuals);
  individuals_ = std::move(individuals);
  individuals_.sensory.freeze();
  novelty_.clear();
  index_.clear();
  for (std::size_t row = 0; row < size(); ++row) {
    index_.insert(row, individuals_.descriptors.row(row), individuals_.ids[row]);
  }
}

std::vector<Gain> Container::gains() {
  notes_gains_ = true;
  return std::exchange(gains_, {});
}

std::vector<float> Container::novelty(Workers& workers) {
  return novelty_.scores(index_, individuals_.descriptors, individuals_.ids, workers);
}

double Container::diameter(Workers& workers) const {
  return std::sqrt(static_cast<double>(index_.squared_diameter(workers)));
}

}  // namespace aurora

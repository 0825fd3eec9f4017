#include "aurora/containers/cell_archive.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <string>
#include <utility>

#include "aurora/core/errors.hpp"

namespace aurora {

CellArchive::CellArchive(const IndividualsLayout& layout, std::unique_ptr<Cells> cells,
                         std::size_t k)
    : Container(layout, k), cells_(std::move(cells)), elites_(cells_->count(), kNobody) {
  if (cells_->dimension() != layout.descriptor_size) {
    throw UsageError("cells of " + std::to_string(cells_->dimension()) +
                     " dimensions cannot hold descriptors of " +
                     std::to_string(layout.descriptor_size));
  }
}

Outcome CellArchive::add(const Individuals& batch, std::size_t row, double /*threshold*/) {
  assert(same_columns(batch, individuals_));
  if (!is_finite(batch, row)) return Outcome::invalid;
  const auto descriptor = batch.descriptors.row(row);
  const std::size_t cell = cells_->cell(descriptor);
  if (cell == Cells::kOutside) return Outcome::rejected;
  std::uint32_t& elite = elites_[cell];
  if (elite == kNobody) {
    elite = static_cast<std::uint32_t>(append(batch, row));
    index_.insert(elite, descriptor, batch.ids[row]);
    return Outcome::added;
  }
  if (!(batch.fitness[row] > individuals_.fitness[elite])) return Outcome::rejected;
  replace(elite, batch, row);
  return Outcome::replaced;
}

std::size_t CellArchive::update(double /*threshold*/, Workers& /*workers*/) {
  return 0;
}

std::size_t CellArchive::set_descriptors(MatrixView<const float> descriptors,
                                         std::span<const float> errors) {
  const std::size_t before = size();
  Container::set_descriptors(descriptors, errors);
  std::ranges::fill(elites_, kNobody);
  std::vector<std::uint32_t> rows(size());
  std::iota(rows.begin(), rows.end(), 0U);
  sort_by_age(rows);
  for (const std::uint32_t row : rows) {
    const std::size_t cell = cells_->cell(individuals_.descriptors.row(row));
    std::uint32_t loser = row;
    if (cell != Cells::kOutside) {
      std::uint32_t& elite = elites_[cell];
      if (elite == kNobody || individuals_.fitness[row] > individuals_.fitness[elite]) {
        loser = std::exchange(elite, row);
      }
    }
    if (loser != kNobody) index_.erase(loser);
  }
  // Rows move, and with them the elites of cells.
  drop_rows_not_indexed();
  for (std::size_t row = 0; row < size(); ++row) {
    elites_[cells_->cell(individuals_.descriptors.row(row))] = static_cast<std::uint32_t>(row);
  }
  return before - size();
}

void CellArchive::restore(Individuals individuals) {
  std::vector<std::uint32_t> elites(elites_.size(), kNobody);
  for (std::size_t row = 0; row < individuals.size(); ++row) {
    const bool fits = individuals.descriptors.cols() == cells_->dimension();
    const std::size_t cell =
        fits ? cells_->cell(individuals.descriptors.row(row)) : Cells::kOutside;
    if (cell == Cells::kOutside) {
      throw DataError("individual " + std::to_string(individuals.ids[row]) +
                      " lies outside all cells");
    }
    if (elites[cell] != kNobody) {
      throw DataError("individuals " + std::to_string(individuals.ids[elites[cell]]) + " and " +
                      std::to_string(individuals.ids[row]) + " lie in one cell");
    }
    elites[cell] = static_cast<std::uint32_t>(row);
  }
  Container::restore(std::move(individuals));
  elites_ = std::move(elites);
}

}  // namespace aurora

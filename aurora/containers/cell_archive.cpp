#include "aurora/containers/cell_archive.hpp"

#include <algorithm>
#include <cassert>
#include <memory>
#include <string>
#include <utility>

#include "aurora/containers/centroids.hpp"
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

Outcome CellArchive::add(const Individuals& batch, std::size_t row) {
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

std::size_t CellArchive::set_descriptors(MatrixView<const float> descriptors,
                                         std::span<const float> errors) {
  const std::size_t before = size();
  Container::set_descriptors(descriptors, errors);
  std::ranges::fill(elites_, kNobody);
  for (const std::uint32_t row : rows_by_age(individuals_)) {
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
  elites_ = elites_of(individuals_);
  return before - size();
}

void CellArchive::retain(std::span<const std::uint32_t> rows) {
  Container::retain(rows);
  elites_ = elites_of(individuals_);
}

std::vector<std::uint32_t> CellArchive::elites_of(const Individuals& individuals) const {
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
  return elites;
}

std::string CellArchive::check(Workers& workers) const {
  elites_of(individuals_);
  Container::check(workers);
  return "one individual in a cell, " + std::to_string(size()) + " of " +
         std::to_string(cells_->count()) + " cells";
}

void CellArchive::restore(Individuals individuals, const PartState& state) {
  std::vector<std::uint32_t> elites = elites_of(individuals);
  Container::restore(std::move(individuals), state);
  elites_ = std::move(elites);
}

namespace {

struct CellsConfig {
  std::size_t k = 15;  // neighbours that make the novelty score
};

/// What both kinds have in common.
PartBuilder<CellsConfig> cells_part(std::string name, std::string summary) {
  return part<CellsConfig>(std::move(name), std::move(summary))
      .option("k", &CellsConfig::k, 1, 1000, "neighbours that make the novelty score (k)")
      .without("threshold", "cells have no distance threshold")
      .refuses([](const CellsConfig&, const Mix& mix) -> std::string {
        if (!mix.learned) return {};
        return "descriptor.kind=learned: cells need bounds that stay, and a learned descriptor has "
               "none; use descriptor.kind=hand-coded";
      });
}

}  // namespace

ContainerEntry grid_container() {
  return cells_part("grid", "the fittest of each cell of a grid (MAP-Elites)")
      .made_by([](const CellsConfig& config, const ContainerContext& context) {
        return std::make_unique<CellArchive>(
            context.layout, std::make_unique<GridCells>(context.bounds, context.target_size),
            config.k);
      });
}

ContainerEntry cvt_container() {
  return cells_part("cvt", "the fittest of each Voronoi cell (CVT-MAP-Elites)")
      .made_by([](const CellsConfig& config, const ContainerContext& context) {
        const Matrix<float> centroids =
            voronoi_centroids(context.target_size, context.bounds.size(), context.seed,
                              context.workers, context.watch);
        return std::make_unique<CellArchive>(
            context.layout, std::make_unique<VoronoiCells>(context.bounds, centroids), config.k);
      });
}

}  // namespace aurora

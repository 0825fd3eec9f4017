// One elite in each cell: MAP-Elites (Mouret & Clune 2015) and, with Voronoi cells,
// CVT-MAP-Elites (Vassiliades, Chatzilygeroudis & Mouret 2018).
//
// Cells need bounds that stay, so descriptors are hand-coded. There is no distance threshold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "aurora/containers/cells.hpp"
#include "aurora/containers/container.hpp"

namespace aurora {

class CellArchive final : public Container {
 public:
  /// UsageError if k is 0, or the dimension of the cells is not that of the descriptors.
  CellArchive(const IndividualsLayout& layout, std::unique_ptr<Cells> cells, std::size_t k);

  /// A candidate is added to an empty cell and replaces, in its row, an elite of lower fitness;
  /// with equal fitness the elite stays. It is rejected outside all cells.
  Outcome add(const Individuals& batch, std::size_t row) override;

  /// Who is now outside all cells, or in the cell of somebody fitter (or as fit and older), is
  /// removed too.
  std::size_t set_descriptors(MatrixView<const float> descriptors,
                              std::span<const float> errors) override;

  void retain(std::span<const std::uint32_t> rows) override;

  /// One individual in a cell.
  std::string check(Workers& workers) const override;

  /// DataError also for somebody outside all cells, or two in one.
  void restore(Individuals individuals, const PartState& state = {}) override;

 private:
  static constexpr std::uint32_t kNobody = NeighbourIndex::kNoSlot;

  /// The row of each cell's elite. DataError for somebody outside all cells, or two in one.
  std::vector<std::uint32_t> elites_of(const Individuals& individuals) const;

  std::unique_ptr<Cells> cells_;
  std::vector<std::uint32_t> elites_;  // [cell]: row, or kNobody
};

}  // namespace aurora

// Several containers side by side, each with descriptors of its own. Everybody is offered to all of
// them, and is here as long as one of them holds him: the members are those of all together, each
// once, with their descriptors for the first container, for the second, and so on, one after the
// other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "aurora/containers/container.hpp"

namespace aurora {

class ContainerEnsemble final : public Container {
 public:
  /// The columns that its containers are made with, for a layout with the descriptors of all: what
  /// a container decides by, and who it is.
  static IndividualsLayout part_layout(const IndividualsLayout& layout, std::size_t containers);

  /// UsageError if there are none.
  ContainerEnsemble(const IndividualsLayout& layout,
                    std::vector<std::unique_ptr<Container>> containers);

  std::span<const std::unique_ptr<Container>> containers() const { return containers_; }
  /// The row here of a member of one of the containers.
  static std::uint32_t row_here(const Individuals& members, std::size_t row) {
    return static_cast<std::uint32_t>(members.extra(row, 0));
  }

  /// The best that a container says: added to one of them, or else replacing somebody in one.
  Outcome add(const Individuals& batch, std::size_t row) override;
  void add_all(const Individuals& batch, std::span<const std::uint32_t> rows, Workers& workers,
               std::span<Outcome> outcomes) override;
  /// That of all containers; lost is who is in none any more.
  Upkeep after_iteration(const IterationEnd& end, Workers& workers) override;
  /// The means of the containers' numbers, and their sizes.
  std::vector<NamedNumber> numbers() const override;
  std::string check(Workers& workers) const override;
  std::size_t set_descriptors(MatrixView<const float> descriptors,
                              std::span<const float> errors) override;
  void retain(std::span<const std::uint32_t> rows) override;
  PartState state() const override;
  void restore(Individuals individuals, const PartState& state = {}) override;

 private:
  std::size_t part_dimension() const { return index_.dimension() / containers_.size(); }
  std::span<const float> part_descriptor(std::size_t container, std::span<const float> all) const {
    return all.subspan(container * part_dimension(), part_dimension());
  }
  std::size_t settle(const Individuals& batch, std::span<const std::uint32_t> rows);
  void take_over(Individuals individuals, const PartState& state);
  Individuals members_of(std::size_t container, const PartState& state) const;

  std::vector<std::unique_ptr<Container>> containers_;
  // Members of the containers carry their row here; newcomers, until it is settled who stays, the
  // number of rows and their place in the batch.
  Individuals newcomers_;
  std::vector<std::uint32_t> places_;  // by the row that they carry: where they are from now on
};

}  // namespace aurora

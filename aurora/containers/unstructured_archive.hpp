// The unstructured archive with exclusive eps-dominance (Cully & Demiris 2018; specification 2).
//
// Distances are Euclidean. Squared distances are summed in float, dimension by dimension and
// without fused multiply-add, on every instruction set: the same bits on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "aurora/containers/container.hpp"

namespace aurora {

struct ArchiveConfig {
  std::size_t k = 15;    // neighbours that make the novelty score
  double epsilon = 0.1;  // tolerance of the exclusive eps-dominance, in [0, 1)
};

class UnstructuredArchive final : public Container {
 public:
  /// UsageError if k is 0, epsilon outside [0, 1), or the layout has no descriptor.
  UnstructuredArchive(const IndividualsLayout& layout, const ArchiveConfig& config);

  /// With the threshold 0 every distance above 0 is far enough.
  Outcome add(const Individuals& batch, std::size_t row, double threshold) override;

  /// Decides on all of them at once, against the members that there are, and then, in order, anew
  /// on those whose decision an earlier one of the batch has touched.
  void add_all(const Individuals& batch, std::span<const std::uint32_t> rows, double threshold,
               Workers& workers, std::span<Outcome> outcomes) override;

  /// Re-adds everything, oldest first, with the threshold (1 - epsilon) * threshold. Whoever has
  /// nobody within that distance stays anyway: the work is to find the others.
  std::size_t update(double threshold, Workers& workers) override;

 private:
  struct Candidate {
    std::span<const float> descriptor;
    float fitness;
    std::uint64_t id;
  };
  struct Decision {
    Outcome outcome = Outcome::invalid;
    std::uint32_t rival = NeighbourIndex::kNoSlot;  // the row that `replaced` speaks of
    // It stands as long as nobody comes or goes within these squared distances.
    float reach = -1;        // from the candidate
    float rival_reach = -1;  // from the rival
  };
  using Workspace = NeighbourIndex::Workspace;

  Decision decide(const Candidate& candidate, double threshold, Workspace& workspace) const;
  Decision compete(const Candidate& candidate, std::uint32_t rival, Workspace& workspace) const;
  bool stands(const Decision& decision, const Candidate& candidate,
              MatrixView<const float> changes) const;
  void carry_out(const Decision& decision, const Individuals& batch, std::size_t row);
  std::vector<std::uint32_t> rows_with_company(double distance, Workers& workers) const;

  ArchiveConfig config_;
  Workspace workspace_;
};

}  // namespace aurora

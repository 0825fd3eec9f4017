// The unstructured archive with exclusive eps-dominance (Cully & Demiris 2018; docs/algorithms.md).
//
// Distances are Euclidean. Squared distances are summed in float, dimension by dimension and
// without fused multiply-add, on every instruction set: the same bits on every machine.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "aurora/containers/container.hpp"

namespace aurora {

struct ArchiveConfig {
  std::size_t k = 15;              // neighbours that make the novelty score
  double epsilon = 0.1;            // tolerance of the exclusive eps-dominance, in [0, 1)
  std::size_t update_period = 10;  // T_C: iterations between two container updates
  // w, in [0, 1): the threshold around a member is (1 - w) times as large around the fittest and
  // (1 + w) times around the least fit, by rank in between.
  double relevance = 0;
};

class UnstructuredArchive final : public Container {
 public:
  /// UsageError if k or the period is 0, epsilon or relevance outside [0, 1), or the layout has no
  /// descriptor.
  /// Without a threshold only the members that are given one may be called.
  UnstructuredArchive(const IndividualsLayout& layout, const ArchiveConfig& config,
                      std::unique_ptr<Threshold> threshold = nullptr);

  Outcome add(const Individuals& batch, std::size_t row) override {
    return add(batch, row, threshold_->value());
  }
  void add_all(const Individuals& batch, std::span<const std::uint32_t> rows, Workers& workers,
               std::span<Outcome> outcomes) override {
    add_all(batch, rows, threshold_->value(), workers, outcomes);
  }
  /// Follows the threshold, and updates if it wants that.
  Upkeep after_iteration(const IterationEnd& end, Workers& workers) override;
  std::size_t set_descriptors(MatrixView<const float> descriptors,
                              std::span<const float> errors) override;
  std::vector<double> radius_factors() const override;
  std::vector<NamedNumber> numbers() const override;
  /// No two members are closer to each other than they may be.
  std::string check(Workers& workers) const override;
  PartState state() const override;
  void restore(Individuals individuals, const PartState& state = {}) override;

  // The rules with a threshold of the caller's.

  /// With the threshold 0 every distance above 0 is far enough.
  Outcome add(const Individuals& batch, std::size_t row, double threshold);

  /// The same as one after the other. Several workers decide on all of them at once, against the
  /// members that there are; then, in order, it is decided anew on those whose decision an earlier
  /// one of the batch has touched.
  void add_all(const Individuals& batch, std::span<const std::uint32_t> rows, double threshold,
               Workers& workers, std::span<Outcome> outcomes);

  /// Container update: re-adds everything, oldest first, with the threshold (1 - epsilon) *
  /// threshold; returns how many were lost. Whoever has nobody within that distance stays anyway:
  /// the work is to find the others.
  std::size_t update(double threshold, Workers& workers);

  /// From here on members have the radii of their present ranks; nothing happens without
  /// relevance. A container update must follow, as it does in after_iteration().
  void rank_anew();

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

  /// By what the threshold is multiplied around a member of this fitness, and at the most.
  double factor(float fitness) const;
  double largest_factor() const { return ranked_.empty() ? 1 : 1 + config_.relevance; }

  Decision decide(const Candidate& candidate, double threshold, Workspace& workspace) const;
  Decision compete(const Candidate& candidate, std::uint32_t rival, Workspace& workspace) const;
  bool stands(const Decision& decision, const Candidate& candidate,
              MatrixView<const float> changes) const;
  void carry_out(const Decision& decision, const Individuals& batch, std::size_t row);
  std::vector<std::uint32_t> rows_with_company(double distance, Workers& workers) const;

  void follow_threshold(const IterationEnd& end, Workers& workers);
  /// Somebody may have come as close to another as this.
  void allow(double distance) { spacing_ = std::min(spacing_, distance); }

  ArchiveConfig config_;
  std::unique_ptr<Threshold> threshold_;
  /// The fitness of the members when they were ranked, ascending; empty: all are alike.
  std::vector<float> ranked_;
  /// No member is closer than this to an older one, the distance divided by the factor of the older
  /// one's radius: it falls with every smaller threshold that members are added with, and is known
  /// anew after a container update.
  double spacing_ = std::numeric_limits<double>::infinity();
  Workspace workspace_;
};

}  // namespace aurora

// A container: the individuals that a search keeps. A kind of container says who may join them.
//
// Every kind has the descriptors of its members in an index of nearest neighbours, so that novelty
// means the same in all of them: the distance to other members, Euclidean.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "aurora/containers/nearest_neighbours.hpp"
#include "aurora/containers/novelty.hpp"
#include "aurora/containers/threshold.hpp"
#include "aurora/core/individuals.hpp"
#include "aurora/core/named.hpp"
#include "aurora/core/parallel.hpp"

namespace aurora {

/// What became of a candidate. `invalid`: something in it was NaN or infinite.
enum class Outcome : std::uint8_t { added, replaced, rejected, invalid };

/// What a container is told at the end of an iteration.
struct IterationEnd {
  std::size_t iteration = 0;         // from 1
  std::size_t encoder_updates = 0;   // so far; hand-coded descriptors: of the same calendar
  bool update_due = false;           // one of them was due in this iteration
  bool descriptors_changed = false;  // it gave the members other descriptors
};

/// What a container did at the end of an iteration.
struct Upkeep {
  bool updated = false;  // a container update took place
  std::size_t lost = 0;  // members that it did not take back
};

/// Somebody took the place of another.
struct Gain {
  std::uint64_t id = 0;  // of the newcomer
  float fitness = 0;     // by how much it is fitter
};

class Container {
 public:
  virtual ~Container() = default;

  const Individuals& individuals() const { return individuals_; }
  std::size_t size() const { return individuals_.size(); }

  /// Tries to add row `row` of `batch`, whose id must be larger than every id seen so far.
  virtual Outcome add(const Individuals& batch, std::size_t row) = 0;

  /// add() for the rows of `batch` that are given, one after the other. Containers may look at them
  /// side by side first: the outcomes, which go to `outcomes`, are the same.
  virtual void add_all(const Individuals& batch, std::span<const std::uint32_t> rows,
                       Workers& workers, std::span<Outcome> outcomes);

  /// Whatever the kind of container has to do between two iterations: to follow its threshold, to
  /// let members go. Rows may move; ids stay.
  virtual Upkeep after_iteration(const IterationEnd& /*end*/, Workers& /*workers*/) { return {}; }

  /// By what a distance threshold is multiplied around each member, row by row; empty: by 1.
  virtual std::vector<double> radius_factors() const { return {}; }

  /// Numbers about itself, for metrics.csv: always the same names.
  virtual std::vector<NamedNumber> numbers() const { return {}; }

  /// What is true of every such container, in a few words, after looking that it is so. DataError
  /// if it is not.
  virtual std::string check(Workers& workers) const;

  /// Overwrites the descriptors (and, if given, the reconstruction errors), row by row, after the
  /// encoder has changed. Individuals whose new descriptor (or error) is not finite are removed;
  /// returns how many. DataError if the number of rows or columns is not the container's.
  virtual std::size_t set_descriptors(MatrixView<const float> descriptors,
                                      std::span<const float> errors);

  /// Lets everybody go but these rows, each of which is given once. Rows move; ids stay.
  virtual void retain(std::span<const std::uint32_t> rows);

  /// What it depends on from here on, besides its individuals.
  virtual PartState state() const { return {}; }

  /// Takes over individuals that were in such a container before, row by row, and its state then:
  /// what it does from here on is what it would have done there. DataError, and nothing taken over,
  /// if the columns do not match the layout, a number is not finite, two ids are equal, or the kind
  /// of container cannot have held them together.
  virtual void restore(Individuals individuals, const PartState& state = {});

  /// Who took the place of somebody since the last call, one after the other. The first call, which
  /// gives nothing, begins to take notes.
  std::vector<Gain> gains();

  /// The values of the extra columns, to be changed by the part whose they are.
  MatrixView<float> extra() { return individuals_.extra; }

  /// Novelty score of every row: mean distance to its k nearest other members (0 for a lone one).
  /// The first call computes all of them, the next ones what has changed.
  std::vector<float> novelty(Workers& workers);

  /// The largest distance between two members (0 if there are fewer than two).
  double diameter(Workers& workers) const;

 protected:
  /// k: neighbours that make the novelty score. UsageError if it is 0 or the layout has no
  /// descriptor.
  Container(const IndividualsLayout& layout, std::size_t k);
  Container(const Container&) = default;
  Container(Container&&) = default;
  Container& operator=(const Container&) = default;
  Container& operator=(Container&&) = default;

  /// Copies a candidate into a new last row, which it returns; the index is left to the caller.
  std::size_t append(const Individuals& batch, std::size_t row);
  /// Puts a candidate in the place of the individual of row `to`.
  void replace(std::size_t to, const Individuals& batch, std::size_t row);
  /// Fills each hole with the last row that stays, so that as little as possible is moved; returns
  /// which row went where.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> drop_rows_not_indexed();

  Individuals individuals_;
  NeighbourIndex index_;  // slots are rows
  NoveltyCache novelty_;

 private:
  bool notes_gains_ = false;
  std::vector<Gain> gains_;
};

/// One side of a box; both ends belong to it.
struct Interval {
  double min = 0;
  double max = 1;
};

/// What a container is made with.
struct ContainerContext {
  IndividualsLayout layout;
  std::vector<Interval> bounds;          // of hand-coded descriptors; empty for learned ones
  std::size_t target_size = 0;           // N
  std::uint64_t seed = 1;                // of the run, for streams of its own
  Workers& workers;                      // while it is made
  std::unique_ptr<Threshold> threshold;  // null if its entry does without one
  Watch watch = {};                      // what takes long tells it how far it is
};

using ContainerEntry = Entry<Container, ContainerContext>;

ContainerEntry unstructured_container();
ContainerEntry grid_container();
ContainerEntry cvt_container();

}  // namespace aurora

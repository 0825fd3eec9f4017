// Selection: which members of the container become parents (docs/algorithms.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "aurora/core/part.hpp"
#include "aurora/core/random.hpp"

namespace aurora {

/// Those who are up for selection, row by row: the members of a container, or the candidates of a
/// population. Nothing is computed that nobody asks for.
class SelectionView {
 public:
  virtual ~SelectionView() = default;
  virtual std::size_t size() const = 0;
  /// Mean distance to the nearest others.
  virtual std::vector<float> novelty() = 0;
  virtual std::vector<float> reconstruction_error() = 0;
  virtual std::vector<float> fitness() = 0;
  /// A column of the selector's own.
  virtual std::vector<float> column(std::string_view name) = 0;
};

/// What became of a child of the member in row `parent`, who is still there.
struct Birth {
  std::uint32_t parent = 0;
  bool kept = false;  // the container took the child
};

class Selector {
 public:
  virtual ~Selector() = default;

  /// One number for each row: parents are drawn with probability number / sum, and a population is
  /// ranked by it. Empty: all alike. Only what is said here may decide, and it may depend on
  /// nothing but what the view shows, the iteration and what the selector was made with.
  virtual std::vector<float> weights(SelectionView& view, std::uint32_t iteration) const = 0;

  /// False if nobody becomes a parent: every genotype is drawn afresh.
  virtual bool selects() const { return true; }
  /// Whether weights() says anything.
  virtual bool ranks() const { return true; }
  /// Whether it reads reconstruction errors, which only an encoder gives.
  virtual bool reads_errors() const { return false; }

  /// Names of columns that individuals carry for it; they are saved with everything else.
  virtual std::vector<std::string> columns() const { return {}; }
  /// Called after each batch if it has columns: `values` are those of all members, a row each, in
  /// the order of columns(), to be changed at will.
  virtual void learn(std::span<const Birth> /*births*/, MatrixView<float> /*values*/) const {}
};

/// What a selector is made with.
struct SelectorContext {
  std::uint64_t seed = 1;  // of the run, for streams of its own
};

using SelectorEntry = Entry<Selector, SelectorContext>;

SelectorEntry uniform_selector();
SelectorEntry novelty_selector();
SelectorEntry surprise_selector();
SelectorEntry novelty_surprise_selector();
SelectorEntry curiosity_selector();
SelectorEntry exploring_selector();
SelectorEntry tournament_selector();
SelectorEntry no_selector();

/// Fills `parents` with numbers below `size` (> 0), with replacement, all equally likely.
void select_uniform(std::size_t size, std::span<std::uint32_t> parents, Stream& stream);

/// Fills `parents` with replacement, i with probability weights[i] / sum. Weights that are negative
/// or not finite count as 0; if nothing is left, all are equally likely.
void select_proportional(std::span<const float> weights, std::span<std::uint32_t> parents,
                         Stream& stream);

}  // namespace aurora

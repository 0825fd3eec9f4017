// A container that was read, and what the page gets of it: columns of 4-byte numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "apps/aurora/explore/live_run.hpp"

namespace aurora::explore {

struct OpenContainer {
  Source source;
  std::string etag;                  // with its quotes
  SavedContainer saved;              // without sensory data
  std::shared_ptr<const Plan> plan;  // null if it cannot be made here
  std::string columns;               // what the page gets

  /// Memory that it takes, nearly.
  std::size_t bytes() const;
};

/// The mean distance of each individual to its 15 nearest in the descriptor space, 4 bytes each:
/// what takes longest to know of a container.
struct Novelty {
  std::string column;

  std::size_t bytes() const { return sizeof(*this) + column.size(); }
};

std::shared_ptr<const Novelty> novelty_of(const Individuals& members);

/// Reads a source of a run. `etag` is what to call it. DataError or FileError if it is not whole.
std::shared_ptr<const OpenContainer> open_container(LiveRun& run, const Source& source,
                                                    const std::string& etag);

/// The iteration after which an individual was born, by its id and the size of the batches.
std::uint64_t birth_of(std::uint64_t id, std::size_t batch);

/// A header in JSON behind its length (4 bytes), padded to a multiple of 4 bytes, then the columns,
/// each number in 4 bytes, little endian:
///   {"count", "iteration", "source", "etag", "columns": [{"name", "type", "components"}]}
/// DataError if there are ids beyond 32 bits.
std::string container_columns(const OpenContainer& container);

/// Genes by ids, in ascending order, in the same form: {"count", "columns"}.
std::string genotype_columns(const std::map<std::uint64_t, std::vector<float>>& genes);

}  // namespace aurora::explore

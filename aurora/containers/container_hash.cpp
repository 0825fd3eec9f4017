#include "aurora/containers/container_hash.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <memory>
#include <span>

namespace aurora {

std::uint64_t container_hash(const Individuals& individuals) {
  const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state(XXH3_createState(),
                                                                       &XXH3_freeState);
  XXH3_64bits_reset(state.get());
  const auto feed = [&](const void* data, std::size_t bytes) {
    XXH3_64bits_update(state.get(), data, bytes);
  };
  for (const std::size_t row : rows_by_age(individuals)) {
    feed(&individuals.ids[row], sizeof(std::uint64_t));
    feed(&individuals.fitness[row], sizeof(float));
    feed(individuals.genotypes.row(row).data(), individuals.genotypes.row(row).size_bytes());
    feed(individuals.descriptors.row(row).data(), individuals.descriptors.row(row).size_bytes());
    feed(individuals.ground_truth.row(row).data(), individuals.ground_truth.row(row).size_bytes());
    feed(individuals.sensory.view().bytes(row).data(),
         individuals.sensory.view().bytes(row).size());
    feed(individuals.extra.row(row).data(), individuals.extra.row(row).size_bytes());
  }
  return XXH3_64bits_digest(state.get());
}

std::string container_hash_text(const Individuals& individuals) {
  return fmt::format("{:016x}", container_hash(individuals));
}

}  // namespace aurora

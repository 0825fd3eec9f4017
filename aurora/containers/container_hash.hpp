// A fingerprint of a container: equal if and only if (up to 2^-64) ids, fitness, genotypes,
// descriptors, ground truth, sensory data and extra columns are equal, bit by bit, whatever order
// the rows are stored in. Reconstruction errors are left out: they follow from the rest and the
// encoder, and only some selectors have them computed.
#pragma once

#include <cstdint>
#include <string>

#include "aurora/core/individuals.hpp"

namespace aurora {

std::uint64_t container_hash(const Individuals& individuals);

/// The same as 16 hexadecimal digits, as run.json has it.
std::string container_hash_text(const Individuals& individuals);

}  // namespace aurora

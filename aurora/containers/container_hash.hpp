// A fingerprint of a container: equal if and only if (up to 2^-64) every column is equal, bit by
// bit, whatever order the rows are stored in.
#pragma once

#include <cstdint>
#include <string>

#include "aurora/containers/individuals.hpp"

namespace aurora {

std::uint64_t container_hash(const Individuals& individuals);

/// The same as 16 hexadecimal digits, as run.json has it.
std::string container_hash_text(const Individuals& individuals);

}  // namespace aurora

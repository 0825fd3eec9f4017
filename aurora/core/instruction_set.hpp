// Which of the processor's instruction sets the hot loops use: its best one, unless somebody wants
// to see what another processor would do.
#pragma once

#include <string>

namespace aurora {

/// "avx3" (AVX-512), "avx2", "sse4" or "baseline" from now on, for everything in this process.
/// UsageError if this processor does not have it.
void use_instruction_set(const std::string& name);

/// The kind that is used now: processes with the same text compute the same bits.
std::string instruction_kind();

}  // namespace aurora

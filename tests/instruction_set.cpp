// Linked into every test: AURORA_INSTRUCTIONS=avx2 (or avx3, sse4, baseline) makes a test run with
// that instruction set instead of the processor's best one.
#include "aurora/core/instruction_set.hpp"

#include <cstdio>
#include <cstdlib>

#include "aurora/core/errors.hpp"

namespace {

const bool kForced = [] {
  const char* wanted = std::getenv("AURORA_INSTRUCTIONS");
  if (wanted == nullptr || *wanted == 0) return false;
  try {
    aurora::use_instruction_set(wanted);
  } catch (const aurora::UsageError& error) {
    std::fprintf(stderr, "AURORA_INSTRUCTIONS: %s\n", error.what());
    std::exit(77);  // ctest counts this as skipped
  }
  return true;
}();

}  // namespace

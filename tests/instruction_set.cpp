// Linked into every test: AURORA_INSTRUCTIONS=avx2 (or avx3, sse4, baseline) makes a test run with
// that instruction set of Highway instead of the processor's best one.
#include <hwy/targets.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

namespace {

const bool kForced = [] {
  const char* wanted = std::getenv("AURORA_INSTRUCTIONS");
  if (wanted == nullptr || *wanted == 0) return false;
  const std::map<std::string, std::int64_t> targets{
      {"avx3", HWY_AVX3}, {"avx2", HWY_AVX2}, {"sse4", HWY_SSE4}, {"baseline", HWY_STATIC_TARGET}};
  const auto target = targets.find(wanted);
  if (target == targets.end() || (hwy::SupportedTargets() & target->second) == 0) {
    std::fprintf(stderr, "AURORA_INSTRUCTIONS=%s: this processor has no such set\n", wanted);
    std::exit(77);  // ctest counts this as skipped
  }
  hwy::SetSupportedTargetsForTest(target->second);
  return true;
}();

}  // namespace

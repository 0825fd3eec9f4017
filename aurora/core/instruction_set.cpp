#include "aurora/core/instruction_set.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <hwy/targets.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "aurora/core/errors.hpp"

namespace aurora {

void use_instruction_set(const std::string& name) {
  const std::vector<std::pair<std::string, std::int64_t>> known = {
      {"avx3", HWY_AVX3}, {"avx2", HWY_AVX2}, {"sse4", HWY_SSE4}, {"baseline", HWY_STATIC_TARGET}};
  std::vector<std::string> here;
  for (const auto& [set, target] : known) {
    if ((hwy::SupportedTargets() & target) != 0) here.push_back(set);
  }
  if (std::ranges::find(here, name) == here.end()) {
    throw UsageError(fmt::format("this processor has no instruction set called '{}'; it has {}",
                                 name, fmt::join(here, ", ")));
  }
  const auto chosen = std::ranges::find(known, name, &decltype(known)::value_type::first);
  hwy::SetSupportedTargetsForTest(chosen->second);
}

std::string instruction_kind() {
  const std::int64_t here = hwy::SupportedTargets();
  if ((here & (HWY_AVX3 | HWY_AVX2)) != 0) return "avx2 or avx3";  // both fuse the same way
  return (here & HWY_SSE4) != 0 ? "sse4" : "baseline";
}

}  // namespace aurora

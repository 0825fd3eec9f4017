#include "aurora/evaluation/mpi_launch.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "aurora/core/processors.hpp"

namespace aurora {
namespace {

constexpr const char* kSize = "OMPI_COMM_WORLD_SIZE";
constexpr const char* kRank = "OMPI_COMM_WORLD_RANK";
constexpr const char* kLocalSize = "OMPI_COMM_WORLD_LOCAL_SIZE";
constexpr const char* kBound = "OMPI_MCA_orte_bound_at_launch";
constexpr const char* kSurvives = "OMPI_MCA_mpi_ft_enable";

std::size_t number_in(const char* variable, std::size_t fallback) {
  const char* text = std::getenv(variable);
  if (text == nullptr) return fallback;
  std::size_t value = 0;
  const char* end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, value);
  return error == std::errc() && stop == end ? value : fallback;
}

}  // namespace

MpiLaunch mpi_launch() {
  MpiLaunch launch;
  launch.size = std::max<std::size_t>(number_in(kSize, 1), 1);
  launch.rank = number_in(kRank, 0);
  launch.local_size = std::max<std::size_t>(number_in(kLocalSize, 1), 1);
  launch.bound = number_in(kBound, 0) > 0;
  const char* survives = std::getenv(kSurvives);
  launch.survives =
      number_in(kSurvives, 0) > 0 || (survives && std::string_view(survives) == "true");
  return launch;
}

std::size_t threads_of_rank(const MpiLaunch& launch, std::size_t allowed, std::size_t online) {
  // Bound ranks may still share what they are bound to (a socket); others share all there is.
  const std::size_t share = (launch.bound ? online : allowed) / launch.local_size;
  return std::clamp<std::size_t>(share, 1, std::max<std::size_t>(allowed, 1));
}

std::size_t threads_of_rank(const MpiLaunch& launch) {
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  return threads_of_rank(launch, processors(), static_cast<std::size_t>(std::max(online, 1L)));
}

void forget_mpi_launch() {
  for (const char* variable : {kSize, kRank, kLocalSize, kBound, kSurvives}) unsetenv(variable);
}

}  // namespace aurora

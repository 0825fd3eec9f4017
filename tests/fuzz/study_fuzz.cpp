#include "aurora/experiments/experiment.hpp"
#include "fuzz.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace aurora;
  static const Parts parts = builtin_parts();
  const auto file = fuzz::scratch() / "study.toml";
  fuzz::write(file, data, size);
  fuzz::expect_error_of_ours([&] { plan_experiment(parts, file); });
  return 0;
}

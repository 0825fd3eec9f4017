// A metrics.csv in a directory with nothing else.
#include "aurora/runs/verify.hpp"
#include "fuzz.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace aurora;
  static const Parts parts = builtin_parts();
  fuzz::write(fuzz::scratch() / "metrics.csv", data, size);
  fuzz::expect_error_of_ours([&] { verify_run(parts, fuzz::scratch(), 0); });
  return 0;
}

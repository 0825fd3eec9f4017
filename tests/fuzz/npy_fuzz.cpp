#include "fuzz.hpp"
#include "tests/storage/npy_file.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace aurora;
  const auto file = fuzz::scratch() / "array.npy";
  fuzz::write(file, data, size);
  fuzz::expect_error_of_ours([&] { read_npy<float>(file); });
  fuzz::expect_error_of_ours([&] { read_npy<std::uint8_t>(file); });
  fuzz::expect_error_of_ours([&] { read_npy_header(file); });
  return 0;
}

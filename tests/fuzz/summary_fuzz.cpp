// A run.json: as it is, and with a checksum that fits, as one would make who knows how.
#include "aurora/runs/run_directory.hpp"
#include "aurora/storage/internal/json.hpp"
#include "fuzz.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace aurora;
  const auto file = fuzz::scratch() / "run.json";
  fuzz::write(file, data, size);
  fuzz::expect_error_of_ours([&] { read_summary(file); });
  fuzz::expect_error_of_ours([&] {
    Json json = read_json(file);
    if (!json.is_object()) return;
    sign(json);
    write_file(file, to_text(json));
    read_summary(file);
  });
  return 0;
}

#include <cstdlib>

#include "aurora/runs/plan.hpp"
#include "fuzz.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace aurora;
  static const Parts parts = builtin_parts();
  PlanRequest request;
  request.file = fuzz::scratch() / "config.toml";
  fuzz::write(*request.file, data, size);
  fuzz::expect_error_of_ours([&] {
    std::vector<Variant> variants = parts.variants;
    add_variants_of_file(variants, *request.file);
    // They are as good as ours.
    for (const Variant& variant : variants) find_variant(variants, variant.name);
  });
  fuzz::expect_error_of_ours([&] {
    // What was read can be written and read again, and is the same.
    const std::string first = resolve(parts, request).toml();
    fuzz::write(*request.file, reinterpret_cast<const std::uint8_t*>(first.data()), first.size());
    if (resolve(parts, request).toml() != first) std::abort();
  });
  return 0;
}

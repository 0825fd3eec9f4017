#include <cstdlib>

#include "aurora/runs/config.hpp"
#include "fuzz.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace aurora;
  static const TaskRegistry tasks = builtin_tasks();
  ConfigRequest request;
  request.file = fuzz::scratch() / "config.toml";
  fuzz::write(*request.file, data, size);
  fuzz::expect_error_of_ours([&] {
    // What was read can be written and read again, and is the same.
    const std::string first = to_toml(resolve(tasks, request));
    fuzz::write(*request.file, reinterpret_cast<const std::uint8_t*>(first.data()), first.size());
    if (to_toml(resolve(tasks, request)) != first) std::abort();
  });
  return 0;
}

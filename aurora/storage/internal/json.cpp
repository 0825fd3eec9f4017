#include "aurora/storage/internal/json.hpp"

#include "aurora/storage/files.hpp"

namespace aurora {
namespace {

constexpr std::uint64_t kMaxJsonBytes = std::uint64_t{1} << 24;

}  // namespace

std::string to_text(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

Json read_json(const std::filesystem::path& path) {
  const std::string text = read_file(path, kMaxJsonBytes);
  try {
    return Json::parse(text);
  } catch (const Json::exception& error) {
    throw DataError(fmt::format("'{}' is not valid JSON: {}", path.string(), error.what()));
  }
}

}  // namespace aurora

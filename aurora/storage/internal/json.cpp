#include "aurora/storage/internal/json.hpp"

#include <span>

#include "aurora/storage/files.hpp"

namespace aurora {
namespace {

constexpr std::uint64_t kMaxJsonBytes = std::uint64_t{1} << 24;
constexpr const char* kChecksum = "checksum";

std::string checksum_of(const std::string& text) {
  Checksum checksum;
  checksum.update(std::as_bytes(std::span(text)));
  return checksum.text();
}

Json parse(const std::string& text, const std::filesystem::path& path) {
  try {
    return Json::parse(text);
  } catch (const Json::exception& error) {
    throw DataError(fmt::format("'{}' is not valid JSON: {}", path.string(), error.what()));
  }
}

}  // namespace

std::string to_text(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

Json read_json(const std::filesystem::path& path) {
  return parse(read_file(path, kMaxJsonBytes), path);
}

void sign(Json& json) {
  json.erase(kChecksum);
  json[kChecksum] = checksum_of(to_text(json));
}

Json read_signed_json(const std::filesystem::path& path) {
  const std::string where = fmt::format("'{}'", path.string());
  const std::string text = read_file(path, kMaxJsonBytes);
  const Json json = parse(text, path);
  const std::string checksum = JsonObject(json, where).text(kChecksum);
  // Of the text as it stands: numbers may be written in more than one way, by Python for example.
  const std::string ending = fmt::format(",\n  \"{}\": \"{}\"\n}}\n", kChecksum, checksum);
  if (!text.ends_with(ending) ||
      checksum_of(text.substr(0, text.size() - ending.size()) + "\n}\n") != checksum) {
    throw DataError(fmt::format("{}: the file is damaged: its checksum does not fit", where));
  }
  return json;
}

}  // namespace aurora

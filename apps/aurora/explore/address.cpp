#include "apps/aurora/explore/address.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace aurora::explore {
namespace {

constexpr std::size_t kLongest = 2048;  // characters of a target
constexpr std::string_view kNoSuch = "there is nothing at this address";

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// Names of ours have nothing else in them, so that nothing else needs a meaning.
bool is_plain(char c) {
  return is_digit(c) || is_letter(c) || c == '.' || c == '_' || c == '-';
}

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

std::string lowered(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), lower);
  return result;
}

/// Percent-decoded, once.
std::string decoded(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      result += text[i];
      continue;
    }
    if (i + 2 >= text.size() || !is_hex(text[i + 1]) || !is_hex(text[i + 2])) {
      throw Refusal(400, "a % in an address is followed by two hexadecimal digits");
    }
    unsigned value = 0;
    std::from_chars(text.data() + i + 1, text.data() + i + 3, value, 16);
    result += static_cast<char>(value);
    i += 2;
  }
  return result;
}

std::vector<std::string_view> split(std::string_view text, char by) {
  std::vector<std::string_view> pieces;
  for (;;) {
    const std::size_t end = text.find(by);
    pieces.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return pieces;
    text.remove_prefix(end + 1);
  }
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

/// Digits alone: no sign, no space, no exponent.
std::uint64_t number(std::string_view name, std::string_view text) {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || !is_digit(text.front()) || error != std::errc() || rest != end) {
    throw Refusal(400, fmt::format("'{}' should be a whole number", name));
  }
  return value;
}

/// What may be asked about a run, and which parameters that takes.
struct Question {
  std::string_view name;
  What what;
  std::string_view parameters;
};
constexpr std::array<Question, 9> kQuestions = {{{"container", What::container, "at"},
                                                 {"novelty", What::novelty, "at"},
                                                 {"metrics", What::metrics, "from"},
                                                 {"training", What::training, "from"},
                                                 {"individual", What::individual, "id at"},
                                                 {"picture", What::picture, "id at"},
                                                 {"sensory", What::sensory, "id at"},
                                                 {"film", What::film, "id at kind"},
                                                 {"backdrop", What::backdrop, ""}}};

/// The path; `parameters` gets what may follow it.
Address parse_path(std::string_view path, std::string_view& parameters) {
  if (path.empty() || path.front() != '/') throw Refusal(400, "an address begins with /");
  std::vector<std::string> names;
  for (const std::string_view piece : split(path.substr(1), '/')) {
    names.push_back(decoded(piece));
    if (!std::ranges::all_of(names.back(), is_plain)) throw Refusal(404, std::string(kNoSuch));
  }
  Address address;
  if (names.size() == 1 && names[0] != "api") {
    address.file = names[0].empty() ? "index.html" : names[0];
    parameters = address.file == "index.html" ? "token" : "";
    return address;
  }
  if (names.size() < 2 || names.size() > 4 || names[0] != "api" || names[1] != "runs") {
    throw Refusal(404, std::string(kNoSuch));
  }
  if (names.size() == 2) {
    address.what = What::runs;
    return address;
  }
  address.run = number("the run", names[2]);
  address.what = What::run;
  if (names.size() == 3) return address;
  const auto question = std::ranges::find(kQuestions, names[3], &Question::name);
  if (question == kQuestions.end()) throw Refusal(404, std::string(kNoSuch));
  address.what = question->what;
  parameters = question->parameters;
  return address;
}

void set(Address& address, std::string_view name, const std::string& value) {
  if (name == "id") {
    address.id = number(name, value);
  } else if (name == "at") {
    address.at = number(name, value);
  } else if (name == "from") {
    address.from = number(name, value);
  } else if (name == "token") {
    address.token = value;
  } else {
    address.kind = value;
  }
}

bool needs_id(What what) {
  return what == What::individual || what == What::picture || what == What::sensory ||
         what == What::film;
}

void check_kind(Address& address) {
  if (address.what != What::film) return;
  if (address.kind.empty()) address.kind = "apng";
  if (address.kind != "apng" && address.kind != "gif") {
    throw Refusal(400, "'kind' should be apng or gif");
  }
}

/// The name in a Host header, without the port; empty if it is no such header.
std::string host_name(std::string_view host) {
  std::string_view name = host;
  if (host.starts_with('[')) {
    const std::size_t end = host.find(']');
    if (end == std::string_view::npos) return {};
    name = host.substr(0, end + 1);
  } else {
    name = host.substr(0, host.find(':'));
  }
  std::string_view port = host.substr(name.size());
  if (!port.empty()) {
    port.remove_prefix(1);
    if (host[name.size()] != ':' || port.empty() || port.size() > 5 ||
        !std::ranges::all_of(port, is_digit)) {
      return {};
    }
  }
  return lowered(name);
}

bool is_number_address(std::string_view name) {
  if (name.starts_with('[')) {
    return name.size() > 2 && name.ends_with(']') &&
           std::ranges::all_of(name.substr(1, name.size() - 2),
                               [](char c) { return is_hex(c) || c == ':' || c == '.'; });
  }
  const auto parts = split(name, '.');
  return parts.size() == 4 && std::ranges::all_of(parts, [](std::string_view part) {
           return !part.empty() && part.size() <= 3 && std::ranges::all_of(part, is_digit);
         });
}

bool is_loopback_name(std::string_view name) {
  return name == "localhost" || name == "[::1]" ||
         (is_number_address(name) && name.starts_with("127."));
}

/// Whether a name that a browser knows us by can be ours.
bool is_ours(const std::string& name, const Door& door) {
  if (is_loopback_name(name)) return true;
  if (is_loopback(door.host)) return false;
  // A number cannot be made to lead elsewhere, and who is let in further has the token.
  if (is_number_address(name) || name == lowered(door.host)) return true;
  const std::string machine = lowered(door.machine);
  return !machine.empty() && (name == machine || name.starts_with(machine + "."));
}

/// Whether one of the cookies is called so and has this value.
bool has_cookie(std::string_view cookies, std::string_view name, std::string_view value) {
  bool found = false;
  for (const std::string_view piece : split(cookies, ';')) {
    const std::string_view cookie = trimmed(piece);
    const std::size_t equals = cookie.find('=');
    if (equals == std::string_view::npos || cookie.substr(0, equals) != name) continue;
    found = equal_in_constant_time(cookie.substr(equals + 1), value) || found;
  }
  return found;
}

bool knows_token(const Request& request, const Address& address, const Door& door) {
  constexpr std::string_view kBearer = "Bearer ";
  const std::string_view said = request.authorization;
  return (said.starts_with(kBearer) &&
          equal_in_constant_time(said.substr(kBearer.size()), door.token)) ||
         equal_in_constant_time(address.token, door.token) ||
         has_cookie(request.cookie, door.cookie, door.token);
}

}  // namespace

Address parse_address(std::string_view target) {
  if (target.size() > kLongest) throw Refusal(414, "the address is too long");
  const std::size_t mark = target.find('?');
  std::string_view allowed;
  Address address = parse_path(target.substr(0, mark), allowed);
  const std::vector<std::string_view> names = split(allowed, ' ');
  std::vector<std::string> seen;
  const std::string_view query =
      mark == std::string_view::npos ? std::string_view() : target.substr(mark + 1);
  for (const std::string_view piece : split(query, '&')) {
    if (piece.empty()) continue;
    const std::size_t equals = std::min(piece.find('='), piece.size());
    std::string name = decoded(piece.substr(0, equals));
    if (name.empty() || std::ranges::find(names, name) == names.end()) {
      throw Refusal(400, "the address has a parameter that means nothing here");
    }
    if (std::ranges::find(seen, name) != seen.end()) {
      throw Refusal(400, fmt::format("the address has '{}' twice", name));
    }
    const std::string value = decoded(piece.substr(std::min(equals + 1, piece.size())));
    if (!(name == "at" && value.empty())) set(address, name, value);
    seen.push_back(std::move(name));
  }
  if (needs_id(address.what) && !address.id) throw Refusal(400, "the address has no 'id'");
  check_kind(address);
  return address;
}

bool is_loopback(std::string_view host) {
  return is_loopback_name(lowered(host)) || host == "::1";
}

void check_entry(const Request& request, const Address& address, const Door& door) {
  if (request.method != "GET") throw Refusal(405, "there is nothing to do here but to look: GET");
  if (request.hosts.size() != 1) throw Refusal(400, "a request has one header Host");
  const std::string name = host_name(trimmed(request.hosts.front()));
  if (name.empty()) throw Refusal(400, "the header Host has no name of a host in it");
  if (!is_ours(name, door)) throw Refusal(403, "this server does not go by that name");
  if (!door.token.empty() && !knows_token(request, address, door)) {
    throw Refusal(401, "this needs the token that `aurora explore` printed: /?token=...");
  }
}

bool equal_in_constant_time(std::string_view a, std::string_view b) {
  unsigned different = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const char other = b.empty() ? '\0' : b[i % b.size()];
    different |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(other);
  }
  return different == 0;
}

bool has_etag(std::string_view if_none_match, std::string_view etag) {
  if (etag.empty()) return false;
  for (std::string_view piece : split(if_none_match, ',')) {
    piece = trimmed(piece);
    if (piece.starts_with("W/")) piece.remove_prefix(2);
    if (piece == "*" || piece == etag) return true;
  }
  return false;
}

}  // namespace aurora::explore

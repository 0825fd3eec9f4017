// What a browser asks for, checked before anything is done: the method, the host, the token and the
// address. Pure functions of the request. No address has a path of the file system in it: runs are
// numbers, and so are individuals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aurora/core/errors.hpp"

namespace aurora::explore {

/// A request as it came; nothing of it is checked.
struct Request {
  std::string method;
  std::string target;              // "/api/runs/0?at=5", still encoded
  std::vector<std::string> hosts;  // the values of all headers called Host
  std::string authorization;
  std::string cookie;
  std::string if_none_match;
};

enum class What {
  page,  // a file of the page itself
  runs,
  run,
  container,
  novelty,
  metrics,
  training,
  individual,
  picture,
  sensory,
  film,
  backdrop
};

struct Address {
  What what = What::page;
  std::string file;     // of the page: "index.html"
  std::size_t run = 0;  // its number
  std::optional<std::uint64_t> id = std::nullopt;
  std::optional<std::size_t> at = std::nullopt;  // an iteration
  std::uint64_t from = 0;                        // bytes
  std::string kind;                              // of a film
  std::string token;                             // on the first visit
};

/// A request that gets no for an answer.
class Refusal : public Error {
 public:
  Refusal(int status, const std::string& why) : Error(why), status_(status) {}
  /// As HTTP has it: 400, 404, ...
  int status() const { return status_; }

 private:
  int status_;
};

/// Reads the target of a request. Refusal (400, 404 or 414) if there is no such address.
Address parse_address(std::string_view target);

/// Whom the server answers.
struct Door {
  std::string host = "127.0.0.1";  // what it listens on
  std::string machine;             // the name of this machine
  std::string token;               // empty: nobody needs one
  std::string cookie = "aurora";   // the name of the cookie that has it
};

/// Whether only programs of this machine can reach such a host.
bool is_loopback(std::string_view host);

/// Refusal (405, 400, 403 or 401) unless this is a GET, for a name that is ours (a foreign page
/// that has its own name lead to us says its own name), by somebody who knows the token.
void check_entry(const Request& request, const Address& address, const Door& door);

/// Takes as long for texts that differ early as for texts that differ late.
bool equal_in_constant_time(std::string_view a, std::string_view b);

/// Whether what the browser has is what `etag` names.
bool has_etag(std::string_view if_none_match, std::string_view etag);

}  // namespace aurora::explore

// The server around the answers. It is a plugin, as everything that needs a library of its own: who
// links the command line needs no HTTP library, and who never explores does not load one.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "apps/aurora/explore/answers.hpp"

namespace aurora::explore {

class Server {
 public:
  /// Called on many threads at once.
  using Respond = std::function<Answer(const Request&)>;

  virtual ~Server() = default;
  /// Takes a port, 0 for one that is free; which one, or 0 if it cannot be had.
  virtual int bind(const std::string& host, int port) = 0;
  /// Serves until stop(), which may be called from anywhere.
  virtual void serve() = 0;
  virtual void stop() = 0;
};

/// UsageError if the plugin is not there.
std::unique_ptr<Server> make_server(Server::Respond respond);

}  // namespace aurora::explore

// Finds the server in its plugin.
#include "apps/aurora/explore/server.hpp"
#include "aurora/core/errors.hpp"
#include "aurora/core/plugin.hpp"

namespace aurora::explore {

std::unique_ptr<Server> make_server(Server::Respond respond) {
  constexpr const char* kPlugin = "libaurora_explore.so";
  using Maker = Server* (*)(Server::Respond*);
  const std::string missing =
      missing_plugin(kPlugin, "install libcpp-httplib-dev, then make build");
  if (!missing.empty()) throw UsageError(missing);
  void* maker = find_in_plugin(kPlugin, "aurora_make_server");
  if (!maker) throw UsageError(std::string(kPlugin) + " does not load: install libcpp-httplib0.11");
  return std::unique_ptr<Server>(reinterpret_cast<Maker>(maker)(&respond));
}

}  // namespace aurora::explore

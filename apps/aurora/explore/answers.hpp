// What the page is told: from runs and an address to an answer, without any socket. The server, the
// static export and the tests all ask here. Any number of threads may ask at a time.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/aurora/explore/address.hpp"
#include "apps/aurora/explore/open_container.hpp"
#include "apps/aurora/explore/replays.hpp"
#include "apps/aurora/explore/run_list.hpp"
#include "apps/aurora/explore/shared_cache.hpp"

namespace aurora::explore {

struct Answer {
  int status = 200;
  std::string type;  // of the body: "application/json"
  std::shared_ptr<const std::string> body;
  std::string etag = {};                                          // empty if it has none
  std::vector<std::pair<std::string, std::string>> headers = {};  // more of them
};

/// {"error": "..."}
Answer error_answer(int status, const std::string& why);

class Answers {
 public:
  struct Options {
    std::string program = "aurora";  // what the user would type
    Replays::Draw draw = draw_here;
    /// Somebody waits, and paths are those of this machine; otherwise the answers are for a page
    /// that is written once and for all.
    bool live = true;
    std::size_t container_bytes = std::size_t{512} << 20;  // kept of containers
  };

  Answers(const Parts& parts, const std::vector<std::filesystem::path>& places, Options options);
  Answers(const Parts& parts, const std::vector<std::filesystem::path>& places)
      : Answers(parts, places, Options{}) {}

  /// The answer to an address. Whatever is wrong is an answer, too: nothing is thrown.
  Answer answer(const Address& address, std::string_view if_none_match = {});

  /// The same for a request at the door: what comes in is checked before it is looked at.
  Answer respond(const Request& request, const Door& door);

  std::vector<std::shared_ptr<LiveRun>> runs() { return runs_.all(); }
  /// The newest container that is whole, or the one after an iteration. Refusal 404 if there is
  /// none.
  std::shared_ptr<const OpenContainer> container(std::size_t run, std::optional<std::size_t> at);

 private:
  Answer look_up(const Address& address, std::string_view if_none_match);
  Answer list();
  Answer describe(std::size_t number);
  Answer columns(const Address& address, std::string_view if_none_match);
  Answer novelty(const Address& address);
  Answer table(const Address& address, const char* file);
  Answer individual(const Address& address);
  Answer drawn(const Address& address, std::string_view if_none_match);
  Answer backdrop(std::size_t number);

  struct Found {
    std::shared_ptr<const OpenContainer> container;
    std::size_t row = 0;
  };
  Found find(const Address& address);
  Replays::Pointer replay(const Address& address, const Found& found, const PicturesWanted& wanted,
                          std::chrono::milliseconds patience);
  std::shared_ptr<const OpenContainer> open(std::size_t number, LiveRun& run, const Source& source);
  LiveRun& run_at(std::size_t number);
  std::string etag_of(std::size_t number, LiveRun& run, const Source& source) const;
  std::string place_of(const LiveRun& run) const;
  std::string command(LiveRun& run, const Source& source, std::uint64_t id) const;

  Options options_;
  RunList runs_;
  SharedCache<OpenContainer> containers_;
  SharedCache<Novelty> novelties_;
  Replays replays_;
};

}  // namespace aurora::explore

// Individuals evaluated again and drawn, for who clicks at them: few at a time, not for ever, once
// for all who ask for the same one, and the last ones kept.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "apps/aurora/explore/open_container.hpp"
#include "apps/aurora/explore/shared_cache.hpp"
#include "aurora/runs/show.hpp"

namespace aurora::explore {

/// One individual, and what is wanted of it.
struct ReplayJob {
  std::filesystem::path run;
  std::shared_ptr<const OpenContainer> container;  // with its plan
  std::size_t row = 0;
  PicturesWanted wanted;
};

/// What came of it.
struct Replayed {
  Drawn drawn;
  std::string error;  // why nothing did

  std::size_t bytes() const;
  /// A file by the end of its name: ".png", "-sensory.png", "-film.gif"; null if there is none.
  const std::string* file(std::uint64_t id, const std::string& ending) const;
};

/// Draws in this process, and for as long as it takes.
Drawn draw_here(const ReplayJob& job);

/// Draws the only individual of a repertoire, with the encoder that belongs to it.
Drawn draw_alone(Repertoire one, const std::filesystem::path& run, const PicturesWanted& wanted);

/// The individual of a job as the only one of a repertoire, with its sensory data if that is
/// stored.
Repertoire alone(const ReplayJob& job);

class Replays {
 public:
  using Draw = std::function<Drawn(const ReplayJob&)>;
  using Pointer = std::shared_ptr<const Replayed>;

  struct Limits {
    std::size_t at_once = 2;
    std::size_t waiting = 16;    // jobs
    std::size_t listeners = 48;  // requests that wait for one
    std::size_t kept_bytes = std::size_t{64} << 20;
  };

  /// `draw` is called on threads of ours; it ends in a time that it sees to itself.
  Replays(Draw draw, const Limits& limits);
  explicit Replays(Draw draw) : Replays(std::move(draw), Limits{}) {}
  /// Waits for those that are being drawn.
  ~Replays();

  /// What comes of a job called `name`; null if it takes longer than `patience`. Refusal 503 if
  /// there is too much to do already.
  Pointer get(const std::string& name, const ReplayJob& job, std::chrono::milliseconds patience);

 private:
  struct Coming {
    std::string name;
    ReplayJob job;
    Pointer done;
  };

  void work();

  Draw draw_;
  Limits limits_;
  SharedCache<Replayed> kept_;
  std::mutex mutex_;
  std::condition_variable wanted_;
  std::condition_variable done_;
  std::deque<std::shared_ptr<Coming>> queue_;
  std::map<std::string, std::shared_ptr<Coming>> coming_;  // waiting or being drawn
  std::size_t listeners_ = 0;
  bool ends_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace aurora::explore

#include "apps/aurora/explore/replays.hpp"

#include <atomic>
#include <future>
#include <thread>

#include "apps/aurora/explore/address.hpp"
#include "explore_fixture.hpp"

namespace aurora::explore {
namespace {

using std::chrono::milliseconds;

/// Draws when it is told to.
struct Gate {
  std::promise<void> open;
  std::shared_future<void> opened = open.get_future().share();
  std::atomic<int> drawn = 0;

  Replays::Draw draw() {
    return [this](const ReplayJob& job) {
      ++drawn;
      opened.wait();
      if (job.row == 13) throw DataError("unlucky");
      return Drawn{"", {{"individual-1.png", std::string(100, 'x')}}};
    };
  }
};

ReplayJob job(std::size_t row = 0) {
  return {{}, nullptr, row, {}};
}

TEST(Replays, AreMadeOnceAndKept) {
  Gate gate;
  gate.open.set_value();
  Replays replays(gate.draw());
  const auto first = replays.get("a", job(), milliseconds(5000));
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->error, "");
  EXPECT_EQ(*first->file(1, ".png"), std::string(100, 'x'));
  EXPECT_EQ(first->file(1, "-film.gif"), nullptr);
  EXPECT_EQ(first->file(2, ".png"), nullptr);
  EXPECT_EQ(replays.get("a", job(), milliseconds(0)), first);
  EXPECT_EQ(gate.drawn, 1);
}

TEST(Replays, FailuresHaveAReasonAndAreTriedAgain) {
  Gate gate;
  gate.open.set_value();
  Replays replays(gate.draw());
  EXPECT_EQ(replays.get("a", job(13), milliseconds(5000))->error, "unlucky");
  EXPECT_EQ(replays.get("a", job(0), milliseconds(5000))->error, "");
}

TEST(Replays, AreFewAtATime) {
  Gate gate;
  Replays replays(gate.draw(), {.at_once = 2, .waiting = 3, .listeners = 4});
  EXPECT_EQ(replays.get("0", job(), milliseconds(1)), nullptr);
  EXPECT_EQ(replays.get("1", job(), milliseconds(1)), nullptr);
  while (gate.drawn < 2) std::this_thread::yield();
  for (const char* name : {"2", "3", "4"})
    EXPECT_EQ(replays.get(name, job(), milliseconds(1)), nullptr);
  EXPECT_EQ(gate.drawn, 2);
  try {
    replays.get("5", job(), milliseconds(1));
    FAIL();
  } catch (const Refusal& refusal) {
    EXPECT_EQ(refusal.status(), 503);
  }
  EXPECT_EQ(replays.get("4", job(), milliseconds(1)), nullptr);  // it is coming already

  std::vector<std::thread> listeners;
  for (int i = 0; i < 4; ++i) {
    listeners.emplace_back([&] {
      for (bool heard = false; !heard;) {
        try {
          EXPECT_NE(replays.get("1", job(), milliseconds(20'000)), nullptr);
          heard = true;
        } catch (const Refusal&) {
          std::this_thread::yield();  // the place is taken for a moment, below
        }
      }
    });
  }
  // When all four listen, nobody else may.
  for (bool refused = false; !refused;) {
    try {
      replays.get("2", job(), milliseconds(1));
    } catch (const Refusal&) {
      refused = true;
    }
  }
  gate.open.set_value();
  for (std::thread& listener : listeners) listener.join();
  EXPECT_NE(replays.get("4", job(), milliseconds(20'000)), nullptr);
  EXPECT_EQ(gate.drawn, 5);
}

TEST(Replays, EndWithThoseThatAreBeingDrawn) {
  Gate gate;
  std::thread opener;
  {
    Replays replays(gate.draw(), {.at_once = 1});
    EXPECT_EQ(replays.get("0", job(), milliseconds(1)), nullptr);
    EXPECT_EQ(replays.get("1", job(), milliseconds(1)), nullptr);
    while (gate.drawn < 1) std::this_thread::yield();
    opener = std::thread([&] {
      std::this_thread::sleep_for(milliseconds(200));  // by then the end has begun
      gate.open.set_value();
    });
  }
  opener.join();
  EXPECT_EQ(gate.drawn, 1);
}

}  // namespace
}  // namespace aurora::explore

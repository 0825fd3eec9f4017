#include "apps/aurora/explore/shared_cache.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

namespace aurora::explore {
namespace {

struct Thing {
  int value = 0;
  std::size_t size = 1;
  std::size_t bytes() const { return size; }
};

std::shared_ptr<const Thing> thing(int value, std::size_t size = 1) {
  return std::make_shared<const Thing>(Thing{value, size});
}

TEST(SharedCache, KeepsTheLastUsedWithinItsRoom) {
  SharedCache<Thing> cache(3, 1);
  for (int i = 0; i < 3; ++i) cache.get(std::to_string(i), [i] { return thing(i); });
  EXPECT_EQ(cache.find("0")->value, 0);
  cache.get("3", [] { return thing(3); });
  EXPECT_EQ(cache.find("1"), nullptr);
  EXPECT_NE(cache.find("0"), nullptr);
  EXPECT_EQ(cache.bytes(), 3u);
  cache.get("large", [] { return thing(4, 3); });
  EXPECT_EQ(cache.find("3"), nullptr);
  EXPECT_EQ(cache.bytes(), 3u);
  EXPECT_EQ(cache.get("too large", [] { return thing(5, 4); })->value, 5);
  EXPECT_EQ(cache.find("too large"), nullptr);
  EXPECT_EQ(cache.bytes(), 3u);
}

TEST(SharedCache, FindsByTheBeginningOfAName) {
  SharedCache<Thing> cache(10, 1);
  cache.get("1@5 x", [] { return thing(1); });
  EXPECT_EQ(cache.find_beginning("1@5 ")->value, 1);
  EXPECT_EQ(cache.find_beginning("1@50 "), nullptr);
  EXPECT_EQ(cache.find_beginning("1@4 "), nullptr);
  EXPECT_EQ(cache.find_beginning("2"), nullptr);
}

TEST(SharedCache, MakesOnceForAllWhoAsk) {
  SharedCache<Thing> cache(10, 2);
  std::atomic<int> made = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      const auto value = cache.get("x", [&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
        return thing(++made);
      });
      EXPECT_EQ(value->value, 1);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(made, 1);
}

TEST(SharedCache, NobodyKeepsWhatIsKeptAlready) {
  // Little is kept, and many want the same at the same time: each is kept once or not at all.
  SharedCache<Thing> cache(2, 4);
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      for (int n = 0; n < 20'000; ++n) {
        const int wanted = (n * 7 + i) % 5 % 3;
        EXPECT_EQ(cache.get(std::to_string(wanted), [&] { return thing(wanted); })->value, wanted);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::size_t kept = 0;
  for (int i = 0; i < 3; ++i) kept += cache.find(std::to_string(i)) ? 1 : 0;
  EXPECT_EQ(cache.bytes(), kept);
  EXPECT_EQ(kept, 2u);
}

TEST(SharedCache, MakesNoMoreAtATimeThanItMay) {
  SharedCache<Thing> cache(10, 2);
  std::atomic<int> now = 0;
  std::atomic<int> most = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      cache.get(std::to_string(i), [&] {
        const int here = ++now;
        for (int seen = most; seen < here && !most.compare_exchange_weak(seen, here);) {
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        --now;
        return thing(i);
      });
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(most, 2);
}

TEST(SharedCache, AFailureIsForgotten) {
  SharedCache<Thing> cache(10, 1);
  const auto fails = []() -> std::shared_ptr<const Thing> { throw std::runtime_error("no"); };
  EXPECT_THROW(cache.get("x", fails), std::runtime_error);
  EXPECT_EQ(cache.get("x", [] { return thing(2); })->value, 2);
}

}  // namespace
}  // namespace aurora::explore

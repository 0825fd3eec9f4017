#include "aurora/evaluation/piece_queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "aurora/core/random.hpp"

namespace aurora {
namespace {

/// Takes pieces for whoever comes, until there are none.
std::vector<Rows> all_pieces(PieceQueue& queue, std::size_t threads) {
  std::vector<Rows> pieces;
  while (const auto piece = queue.take(threads, 0)) pieces.push_back(*piece);
  return pieces;
}

TEST(PieceQueue, HandsOutEveryRowOnce) {
  Stream stream(1, Purpose::genotype);
  const auto draw = [&](double most) { return static_cast<std::size_t>(stream.uniform() * most); };
  for (int round = 0; round < 500; ++round) {
    const std::size_t ranks = 1 + draw(70);
    PieceQueue queue(ranks, draw(20));
    for (int batch = 0; batch < 2; ++batch) {
      const std::size_t rows = draw(3000);
      queue.fill(rows);
      std::size_t next = 0;
      while (queue.left() > 0) {
        const auto piece = queue.take(1 + draw(8), draw(3));
        if (!piece) continue;
        ASSERT_EQ(piece->begin, next);
        ASSERT_GT(piece->count, 0U);
        next += piece->count;
      }
      EXPECT_EQ(next, rows);
      EXPECT_FALSE(queue.take(1, 0));
    }
  }
}

TEST(PieceQueue, WhatComesBackIsHandedOutAgainFirst) {
  Stream stream(2, Purpose::genotype);
  const auto draw = [&](double most) { return static_cast<std::size_t>(stream.uniform() * most); };
  for (int round = 0; round < 200; ++round) {
    PieceQueue queue(1 + draw(10), 1 + draw(8));
    const std::size_t rows = 1 + draw(500);
    queue.fill(rows);
    std::vector<int> evaluated(rows);
    std::size_t left = rows;
    while (const auto piece = queue.take(1 + draw(4), 0)) {
      EXPECT_EQ(queue.left(), left - piece->count);
      if (draw(4) == 0) {  // whoever had it is gone
        queue.put_back(*piece);
        EXPECT_EQ(queue.left(), left);
        const auto again = queue.take(1, 0);
        ASSERT_EQ(again->begin, piece->begin);
        ASSERT_EQ(again->count, piece->count);
      }
      left -= piece->count;
      for (std::size_t i = 0; i < piece->count; ++i) ++evaluated[piece->begin + i];
    }
    EXPECT_EQ(std::ranges::count(evaluated, 1), static_cast<std::ptrdiff_t>(rows));
  }
  PieceQueue queue(2, 1);
  queue.fill(10);
  queue.put_back(*queue.take(1, 0));
  EXPECT_EQ(queue.drop(), 10U);
  EXPECT_FALSE(queue.take(1, 0));
}

TEST(PieceQueue, PiecesAreMultiplesOfWhatTheTaskPrefers) {
  for (const std::size_t preferred : {1U, 4U, 16U}) {
    for (const std::size_t threads : {1U, 2U, 8U}) {
      PieceQueue queue(5, preferred);
      queue.fill(1003);
      const std::vector<Rows> pieces = all_pieces(queue, threads);
      for (std::size_t i = 0; i + 1 < pieces.size(); ++i)
        EXPECT_EQ(pieces[i].count % preferred, 0U);
    }
  }
}

TEST(PieceQueue, BeginsWithLargePiecesAndEndsWithSmallOnes) {
  PieceQueue queue(8, 1);
  queue.fill(8192);
  const std::vector<Rows> pieces = all_pieces(queue, 1);
  EXPECT_EQ(pieces.front().count, 8192U / 32);
  EXPECT_EQ(pieces.back().count, 1U);
  EXPECT_LT(pieces.size(), 400U) << "a message a genotype would be 8192";
  EXPECT_TRUE(std::ranges::is_sorted(pieces, std::ranges::greater(), &Rows::count));
}

TEST(PieceQueue, ABatchOfAsManyLanesAsThereAreGoesToAllRanks) {
  PieceQueue queue(8, 16);
  queue.fill(128);
  EXPECT_EQ(all_pieces(queue, 1).size(), 8U);
  queue.fill(128);
  EXPECT_EQ(all_pieces(queue, 64).size(), 8U) << "many threads do not take it all";
}

TEST(PieceQueue, ThreadsOfARankHaveWorkEach) {
  PieceQueue queue(2, 1);
  queue.fill(16);
  EXPECT_EQ(queue.take(4, 0)->count, 4U);
  EXPECT_EQ(queue.take(1, 0)->count, 1U);
}

TEST(PieceQueue, ASecondPieceIsHandedOutOnlyWhileThereAreEnough) {
  PieceQueue queue(4, 1);
  queue.fill(8);
  EXPECT_TRUE(queue.take(1, 1));  // 8 left for 4 ranks
  while (queue.left() > 3) ASSERT_TRUE(queue.take(1, 0));
  EXPECT_FALSE(queue.take(1, 1)) << "others have nothing";
  EXPECT_TRUE(queue.take(1, 0));
  queue.fill(1000);
  EXPECT_FALSE(queue.take(1, 2)) << "two are enough";
}

TEST(PieceQueue, WhatIsDroppedNobodyGets) {
  PieceQueue queue(4, 1);
  queue.fill(10);
  const std::size_t taken = queue.take(1, 0)->count;
  EXPECT_EQ(queue.drop(), 10 - taken);
  EXPECT_FALSE(queue.take(1, 0));
  EXPECT_EQ(queue.drop(), 0U);
}

}  // namespace
}  // namespace aurora

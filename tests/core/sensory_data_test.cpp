#include "aurora/core/sensory_data.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "aurora/core/errors.hpp"

namespace aurora {
namespace {

const SensoryShape kTrajectory{{2, 2}, ElementType::float32};

/// Row i holds 10 i, 10 i + 1, ...
SensoryData numbered(std::size_t rows, const SensoryShape& shape = kTrajectory) {
  SensoryData data(shape, rows);
  for (std::size_t i = 0; i < rows; ++i) {
    float next = 10 * static_cast<float>(i);
    for (float& value : data.mutable_view().row<float>(i)) value = next++;
  }
  return data;
}

SensoryData frozen(SensoryData data) {
  data.freeze();
  return data;
}

std::vector<float> row_of(const SensoryData& data, std::size_t i) {
  const auto row = data.view().row<float>(i);
  return {row.begin(), row.end()};
}

/// Where the bytes of the rows are.
std::vector<const std::byte*> places(const SensoryData& data) {
  std::vector<const std::byte*> all;
  for (std::size_t i = 0; i < data.rows(); ++i) all.push_back(data.view().bytes(i).data());
  return all;
}

TEST(SensoryData, KnowsItsSize) {
  const SensoryShape picture{{64, 64, 3}, ElementType::uint8};
  EXPECT_EQ(picture.size(), 12288u);
  EXPECT_EQ(picture.row_bytes(), 12288u);
  EXPECT_TRUE(picture.is_picture());
  const SensoryShape trajectory{{50, 2}, ElementType::float32};
  EXPECT_EQ(trajectory.size(), 100u);
  EXPECT_EQ(trajectory.row_bytes(), 400u);
  EXPECT_FALSE(trajectory.is_picture());
}

TEST(SensoryData, RowsAreNumbersOfTheElementType) {
  SensoryData data({{2, 2}, ElementType::float32}, 3);
  data.mutable_view().row<float>(2)[3] = 1.5F;
  const SensoryView view = data.view();
  EXPECT_EQ(view.row<float>(2)[3], 1.5F);
  EXPECT_EQ(view.slice(1, 2).row<float>(1)[3], 1.5F);
  EXPECT_EQ(view.bytes(0).size(), 16u);
}

TEST(SensoryData, ABatchIsContiguousAndItsCopiesHaveBytesOfTheirOwn) {
  SensoryData batch = numbered(3);
  EXPECT_FALSE(batch.frozen());
  EXPECT_EQ(places(batch)[2], places(batch)[0] + 2 * kTrajectory.row_bytes());
  const SensoryData copy = batch;
  batch.mutable_view().row<float>(1)[0] = -1;
  EXPECT_EQ(row_of(copy, 1), (std::vector<float>{10, 11, 12, 13}));
}

TEST(SensoryData, FrozenReadsAsBefore) {
  const SensoryData batch = numbered(5);
  const SensoryData data = frozen(batch);
  EXPECT_TRUE(data.frozen());
  EXPECT_EQ(data.shape(), kTrajectory);
  ASSERT_EQ(data.rows(), 5U);
  const SensoryView view = data.view();
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(row_of(data, i), row_of(batch, i));
    EXPECT_TRUE(std::ranges::equal(view.bytes(i), batch.view().bytes(i)));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(view.bytes(i).data()) % alignof(std::max_align_t),
              0U);
  }
  const SensoryView some = view.slice(1, 3).slice(1, 2);
  EXPECT_EQ(some.rows(), 2U);
  EXPECT_EQ(some.row<float>(0).data(), view.row<float>(2).data());
  EXPECT_EQ(some.row<float>(1)[3], 33);
  EXPECT_EQ(view.slice(5, 0).rows(), 0U);
  EXPECT_THROW(view.row<std::uint8_t>(0), DataError);
}

TEST(SensoryData, FrozenRowsOfAnyLengthHoldTheirBytes) {
  for (const std::size_t length : {1U, 15U, 16U, 17U, 12288U}) {
    SensoryData batch({{length}, ElementType::uint8}, 4);
    for (std::size_t i = 0; i < 4; ++i) {
      std::ranges::fill(batch.mutable_view().row<std::uint8_t>(i),
                        static_cast<std::uint8_t>(i + 1));
    }
    const SensoryData data = frozen(batch);
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(data.view().bytes(i).size(), length);
      EXPECT_TRUE(std::ranges::equal(data.view().bytes(i), batch.view().bytes(i)));
    }
  }
  SensoryData nothing(SensoryShape{{0}});
  nothing.freeze();
  nothing.resize_rows(3);
  EXPECT_EQ(nothing.rows(), 3U);
  EXPECT_TRUE(nothing.view().bytes(2).empty());
}

TEST(SensoryData, CopiesOfWhatIsFrozenShareEveryByte) {
  const SensoryData data = frozen(numbered(4));
  const SensoryData copy = data;
  EXPECT_EQ(places(copy), places(data));
  SensoryData assigned = numbered(1);
  assigned = data;
  EXPECT_EQ(places(assigned), places(data));
}

TEST(SensoryData, ResizingWhatIsFrozenKeepsTheFirstRowsAndAddsZeros) {
  SensoryData data = frozen(numbered(3));
  const std::vector<const std::byte*> before = places(data);
  data.resize_rows(5);
  EXPECT_EQ(places(data)[2], before[2]);
  EXPECT_EQ(row_of(data, 4), std::vector<float>(4));
  data.resize_rows(1);
  EXPECT_EQ(data.rows(), 1U);
  EXPECT_EQ(places(data)[0], before[0]);
  data.resize_rows(2);
  EXPECT_EQ(row_of(data, 1), std::vector<float>(4)) << "nothing is left of old rows";
}

TEST(SensoryData, ARowGoesFromOneToTheOtherWithoutItsBytesIfBothAreFrozen) {
  const SensoryData source = frozen(numbered(4));
  SensoryData target = frozen(numbered(2));
  target.copy_row(source, 3, 0);
  EXPECT_EQ(places(target)[0], places(source)[3]);
  target.copy_row(target, 0, 1);
  target.copy_row(target, 1, 1);
  EXPECT_EQ(places(target)[1], places(source)[3]);
}

TEST(SensoryData, ARowOfABatchIsCopied) {
  for (const bool freeze : {false, true}) {
    SensoryData batch = numbered(3);
    SensoryData target(kTrajectory, 2);
    if (freeze) target.freeze();
    target.copy_row(batch, 2, 1);
    batch.mutable_view().row<float>(2)[0] = -1;  // the next episode
    EXPECT_EQ(row_of(target, 1), (std::vector<float>{20, 21, 22, 23}));
    EXPECT_EQ(row_of(target, 0), std::vector<float>(4));
  }
  SensoryData batch = numbered(3);
  batch.copy_row(frozen(numbered(9)), 8, 0);
  EXPECT_EQ(row_of(batch, 0), (std::vector<float>{80, 81, 82, 83}));
}

TEST(SensoryData, NothingThatIsDoneToOneChangesARowThatTheOtherHolds) {
  const SensoryData kept = frozen(numbered(3));
  const std::vector<const std::byte*> before = places(kept);
  const SensoryData batch = numbered(8);
  const std::pair<const char*, std::function<void(SensoryData&)>> changes[] = {
      {"copied from a batch", [&](SensoryData& data) { data.copy_row(batch, 7, 1); }},
      {"filled",
       [](SensoryData& data) {
         data.fill_row(1, [](std::span<std::byte> out) { std::ranges::fill(out, std::byte{255}); });
       }},
      {"moved", [](SensoryData& data) { data.copy_row(data, 2, 1); }},
      {"written to", [](SensoryData& data) { data.mutable_view().row<float>(1)[0] = -1; }},
      {"cut and grown",
       [](SensoryData& data) {
         data.resize_rows(1);
         data.resize_rows(3);
       }},
  };
  for (const auto& [what, change] : changes) {
    SensoryData copy = kept;
    change(copy);
    EXPECT_NE(row_of(copy, 1)[0], 10) << what;
    EXPECT_EQ(row_of(copy, 0), row_of(kept, 0)) << what;
    EXPECT_EQ(places(kept), before) << what;
    EXPECT_EQ(row_of(kept, 1), (std::vector<float>{10, 11, 12, 13})) << what;
  }
}

TEST(SensoryData, WritingToWhatIsFrozenMakesItABatchAgain) {
  SensoryData data = frozen(numbered(3));
  data.mutable_view().row<float>(1)[2] = -1;
  EXPECT_FALSE(data.frozen());
  EXPECT_EQ(row_of(data, 1), (std::vector<float>{10, 11, -1, 13}));
  EXPECT_EQ(row_of(data, 2), (std::vector<float>{20, 21, 22, 23}));
  EXPECT_EQ(places(data)[2], places(data)[0] + 2 * kTrajectory.row_bytes());
}

TEST(SensoryData, ARowThatCannotBeFilledStaysWhatItWas) {
  SensoryData data = frozen(numbered(2));
  const auto fail = [](std::span<std::byte> out) {
    out[0] = std::byte{255};
    throw DataError("the file ends here");
  };
  EXPECT_THROW(data.fill_row(1, fail), DataError);
  EXPECT_EQ(row_of(data, 1), (std::vector<float>{10, 11, 12, 13}));
}

TEST(SensoryData, CopiesAreReadAndDroppedOnOtherThreadsWhileTheFirstGoesOn) {
  constexpr std::size_t kRows = 64;
  SensoryData data = frozen(numbered(kRows));
  for (std::size_t round = 0; round < 20; ++round) {
    std::vector<float> before;
    for (std::size_t i = 0; i < kRows; ++i) before.push_back(row_of(data, i)[0]);
    std::vector<float> seen;
    std::thread reader([copy = data, &seen]() mutable {
      for (std::size_t i = 0; i < kRows; ++i) seen.push_back(row_of(copy, i)[0]);
      copy = {};
    });
    const SensoryData batch = numbered(round + 2);
    for (std::size_t i = 0; i < kRows; ++i) data.copy_row(batch, (i + round) % batch.rows(), i);
    data.resize_rows(kRows / 2);
    data.resize_rows(kRows);
    reader.join();
    EXPECT_EQ(seen, before) << round;
  }
}

}  // namespace
}  // namespace aurora

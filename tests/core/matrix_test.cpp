#include "aurora/core/matrix.hpp"

#include <gtest/gtest.h>

#include "aurora/core/sensory_data.hpp"

namespace aurora {
namespace {

TEST(Matrix, RowsAreContiguousAndRowMajor) {
  Matrix<int> m(3, 2);
  for (int i = 0; i < 6; ++i) m.data()[i] = i;
  EXPECT_EQ(m(1, 0), 2);
  EXPECT_EQ(m.row(2)[1], 5);
  EXPECT_EQ(m.row(1).data() + 2, m.row(2).data());
}

TEST(Matrix, ResizeKeepsTheFirstRowsAndZeroesNewOnes) {
  Matrix<float> m(2, 3);
  m(1, 2) = 7;
  m.resize_rows(4);
  EXPECT_EQ(m.rows(), 4u);
  EXPECT_EQ(m(1, 2), 7);
  EXPECT_EQ(m(3, 0), 0);
  m.resize_rows(1);
  EXPECT_EQ(m.rows(), 1u);
}

TEST(Matrix, SliceSharesTheMemory) {
  Matrix<int> m(4, 2);
  m.view().slice(1, 2)(0, 1) = 9;
  EXPECT_EQ(m(1, 1), 9);
  const MatrixView<const int> constant = m.view();
  EXPECT_EQ(constant.slice(1, 3)(0, 1), 9);
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
  data.view().row<float>(2)[3] = 1.5F;
  const SensoryView view = std::as_const(data).view();
  EXPECT_EQ(view.row<float>(2)[3], 1.5F);
  EXPECT_EQ(view.slice(1, 2).row<float>(1)[3], 1.5F);
  EXPECT_EQ(view.bytes(0).size(), 16u);
}

}  // namespace
}  // namespace aurora

#include "aurora/core/matrix.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace aurora

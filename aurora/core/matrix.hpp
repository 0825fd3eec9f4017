// Row-major matrices and views: rows are individuals, a row is contiguous, no padding between rows.
#pragma once

#include <cassert>
#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

namespace aurora {

/// A rows x cols window on memory that somebody else owns.
template <class T>
class MatrixView {
 public:
  MatrixView() = default;
  MatrixView(T* data, std::size_t rows, std::size_t cols) : data_(data), rows_(rows), cols_(cols) {}

  /// A view of mutable elements is also a view of constant ones.
  operator MatrixView<const T>() const requires(!std::is_const_v<T>) {
    return {data_, rows_, cols_};
  }

  std::size_t rows() const { return rows_; }
  std::size_t cols() const { return cols_; }
  T* data() const { return data_; }
  std::span<T> row(std::size_t i) const {
    assert(i < rows_);
    return {data_ + i * cols_, cols_};
  }
  T& operator()(std::size_t i, std::size_t j) const {
    assert(i < rows_ && j < cols_);
    return data_[i * cols_ + j];
  }
  /// Rows [begin, begin + count).
  MatrixView slice(std::size_t begin, std::size_t count) const {
    assert(begin + count <= rows_);
    return {data_ + begin * cols_, count, cols_};
  }

 private:
  T* data_ = nullptr;
  std::size_t rows_ = 0;
  std::size_t cols_ = 0;
};

/// A matrix that owns its elements. The number of columns is fixed; rows come and go.
template <class T>
class Matrix {
 public:
  Matrix() = default;
  Matrix(std::size_t rows, std::size_t cols) : rows_(rows), cols_(cols), data_(rows * cols) {}

  std::size_t rows() const { return rows_; }
  std::size_t cols() const { return cols_; }
  T* data() { return data_.data(); }
  const T* data() const { return data_.data(); }
  std::span<T> row(std::size_t i) { return view().row(i); }
  std::span<const T> row(std::size_t i) const { return view().row(i); }
  T& operator()(std::size_t i, std::size_t j) { return view()(i, j); }
  const T& operator()(std::size_t i, std::size_t j) const { return view()(i, j); }

  MatrixView<T> view() { return {data_.data(), rows_, cols_}; }
  MatrixView<const T> view() const { return {data_.data(), rows_, cols_}; }
  operator MatrixView<T>() { return view(); }
  operator MatrixView<const T>() const { return view(); }

  /// Keeps the first rows; new rows are zero. Growth is amortised as in std::vector.
  void resize_rows(std::size_t rows) {
    data_.resize(rows * cols_);
    rows_ = rows;
  }

  friend bool operator==(const Matrix&, const Matrix&) = default;

 private:
  std::size_t rows_ = 0;
  std::size_t cols_ = 0;
  std::vector<T> data_;
};

}  // namespace aurora

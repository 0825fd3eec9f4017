// Sensory data: what a robot senses during an episode (paper, section IV-A), one row an individual.
//
// Pictures stay bytes from the task to the encoder's input; trajectories are floats in the task's
// own units. As numbers, bytes mean value / 255, so a picture's features lie in [0, 1].
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "aurora/core/matrix.hpp"

namespace aurora {

enum class ElementType { uint8, float32 };

/// Extents of one individual's sensory data and the type of its elements.
/// A picture is {height, width, channels} (channels last); a sequence is {steps, values}.
struct SensoryShape {
  std::vector<std::size_t> extents;
  ElementType element = ElementType::float32;

  /// Number of features: the product of the extents.
  std::size_t size() const {
    std::size_t n = 1;
    for (std::size_t e : extents) n *= e;
    return n;
  }
  std::size_t row_bytes() const {
    return size() * (element == ElementType::uint8 ? sizeof(std::uint8_t) : sizeof(float));
  }
  bool is_picture() const { return extents.size() == 3 && element == ElementType::uint8; }

  friend bool operator==(const SensoryShape&, const SensoryShape&) = default;
};

/// "64 x 64 x 3 bytes", for people.
std::string describe(const SensoryShape& shape);

/// DataError: `values` of type `element` stand where a row of `shape` should be.
[[noreturn]] void throw_other_shape(const SensoryShape& shape, std::size_t values,
                                    ElementType element);

template <class T>
concept SensoryElement = std::is_same_v<T, std::uint8_t> || std::is_same_v<T, float>;

/// A row in memory of its own, for all who hold it. Nobody changes it.
using SharedRow = std::shared_ptr<const std::byte>;

/// Rows of sensory data owned by somebody else: one after the other in memory or, if they are only
/// read, each in a place of its own. The shape must outlive the view.
template <class Byte>
class BasicSensoryView {
 public:
  BasicSensoryView() = default;
  BasicSensoryView(const SensoryShape& shape, Byte* data, std::size_t rows)
      : shape_(&shape), data_(data), rows_(rows), row_bytes_(shape.row_bytes()) {}
  BasicSensoryView(const SensoryShape& shape,
                   std::span<const SharedRow> rows) requires(std::is_const_v<Byte>)
      : shape_(&shape), shared_(rows.data()), rows_(rows.size()), row_bytes_(shape.row_bytes()) {}

  operator BasicSensoryView<const Byte>() const requires(!std::is_const_v<Byte>) {
    return {*shape_, data_, rows_};
  }

  const SensoryShape& shape() const { return *shape_; }
  std::size_t rows() const { return rows_; }
  std::span<Byte> bytes(std::size_t i) const { return {first_byte(i), row_bytes_}; }
  /// Row i as numbers of its element type: T is std::uint8_t or float, as the shape says;
  /// otherwise DataError.
  template <SensoryElement T>
  auto row(std::size_t i) const {
    using Element = std::conditional_t<std::is_const_v<Byte>, const T, T>;
    if (shape_->element != kElementOf<T>) throw_other_shape(*shape_, shape_->size(), kElementOf<T>);
    return std::span<Element>(reinterpret_cast<Element*>(first_byte(i)), shape_->size());
  }
  /// Fills row i with all of `values`; DataError if they do not have the shape's type and number.
  template <std::ranges::contiguous_range Values>
  void set_row(std::size_t i, const Values& values) const requires(!std::is_const_v<Byte>) {
    using T = std::ranges::range_value_t<Values>;
    const std::size_t count = std::ranges::size(values);
    if (count != shape_->size()) throw_other_shape(*shape_, count, kElementOf<T>);
    std::ranges::copy(values, this->template row<T>(i).begin());
  }
  BasicSensoryView slice(std::size_t begin, std::size_t count) const {
    assert(begin + count <= rows_);
    if constexpr (std::is_const_v<Byte>) {
      if (shared_) return {*shape_, std::span(shared_ + begin, count)};
    }
    return {*shape_, data_ + begin * row_bytes_, count};
  }

 private:
  template <SensoryElement T>
  static constexpr ElementType kElementOf =
      std::is_same_v<T, float> ? ElementType::float32 : ElementType::uint8;

  Byte* first_byte(std::size_t i) const {
    assert(i < rows_);
    if constexpr (std::is_const_v<Byte>) {
      if (shared_) return shared_[i].get();
    }
    return data_ + i * row_bytes_;
  }

  const SensoryShape* shape_ = nullptr;
  Byte* data_ = nullptr;
  const SharedRow* shared_ = nullptr;
  std::size_t rows_ = 0;
  std::size_t row_bytes_ = 0;
};

using SensoryView = BasicSensoryView<const std::byte>;
using MutableSensoryView = BasicSensoryView<std::byte>;

/// Rows of sensory data, owned. A batch is contiguous, and tasks write to it. Frozen, as in a
/// container, every row has memory of its own that never changes: copies share it, and a row goes
/// from one to the other without its bytes.
class SensoryData {
 public:
  SensoryData() = default;
  /// A batch.
  explicit SensoryData(SensoryShape shape, std::size_t rows = 0)
      : shape_(std::move(shape)), bytes_(rows, shape_.row_bytes()) {}

  const SensoryShape& shape() const { return shape_; }
  std::size_t rows() const { return frozen() ? shared_.size() : bytes_.rows(); }
  /// Keeps the first rows; new rows are zero.
  void resize_rows(std::size_t rows);

  bool frozen() const { return blank_ != nullptr; }
  /// Gives every row, those to come too, memory of its own.
  void freeze();

  SensoryView view() const {
    return frozen() ? SensoryView(shape_, shared_) : SensoryView(shape_, bytes_.data(), rows());
  }
  /// For writing: what is frozen becomes a batch again, with bytes of its own.
  MutableSensoryView mutable_view() {
    if (frozen()) thaw();
    return {shape_, bytes_.data(), rows()};
  }

  /// Overwrites row `to` with row `from` of `source` (which may be *this) of the same shape. Bytes
  /// are copied unless both are frozen.
  void copy_row(const SensoryData& source, std::size_t from, std::size_t to);

  /// Overwrites row i with bytes that `fill` writes to the span it is given; all of them.
  template <class Fill>
  void fill_row(std::size_t i, const Fill& fill) {
    if (!frozen()) return fill(mutable_view().bytes(i));
    std::shared_ptr<std::byte> row = new_row(shape_.row_bytes());
    fill(std::span(row.get(), shape_.row_bytes()));
    shared_[i] = std::move(row);
  }

 private:
  /// Memory for numbers of any type.
  static std::shared_ptr<std::byte> new_row(std::size_t bytes);
  void thaw();

  SensoryShape shape_;
  Matrix<std::byte> bytes_;        // of a batch
  std::vector<SharedRow> shared_;  // of what is frozen
  SharedRow blank_;                // what new rows are; null: not frozen
};

}  // namespace aurora

#include "aurora/core/sensory_data.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstddef>

#include "aurora/core/errors.hpp"

namespace aurora {
namespace {

const char* plural(ElementType element) {
  return element == ElementType::uint8 ? "bytes" : "floats";
}

}  // namespace

std::string describe(const SensoryShape& shape) {
  return fmt::format("{} {}", fmt::join(shape.extents, " x "), plural(shape.element));
}

void throw_other_shape(const SensoryShape& shape, std::size_t values, ElementType element) {
  throw DataError(
      fmt::format("the sensory data is {}, not {} {}", describe(shape), values, plural(element)));
}

std::shared_ptr<std::byte> SensoryData::new_row(std::size_t bytes) {
  // One piece of memory for the row and its count, aligned as all memory from `new` is.
  struct alignas(std::max_align_t) Unit {
    std::byte bytes[alignof(std::max_align_t)];
  };
  const auto row =
      std::make_shared_for_overwrite<Unit[]>((bytes + sizeof(Unit) - 1) / sizeof(Unit));
  return {row, reinterpret_cast<std::byte*>(row.get())};
}

void SensoryData::resize_rows(std::size_t rows) {
  if (frozen()) {
    shared_.resize(rows, blank_);
  } else {
    bytes_.resize_rows(rows);
  }
}

void SensoryData::copy_row(const SensoryData& source, std::size_t from, std::size_t to) {
  assert(shape_ == source.shape_);
  if (frozen() && source.frozen()) {
    shared_[to] = source.shared_[from];
    return;
  }
  fill_row(to, [&](std::span<std::byte> out) {
    std::ranges::copy(source.view().bytes(from), out.begin());
  });
}

void SensoryData::freeze() {
  if (frozen()) return;
  const SensoryData batch = std::move(*this);
  *this = SensoryData(batch.shape_);
  const std::shared_ptr<std::byte> zeros = new_row(shape_.row_bytes());
  std::ranges::fill_n(zeros.get(), static_cast<std::ptrdiff_t>(shape_.row_bytes()), std::byte{0});
  blank_ = zeros;
  resize_rows(batch.rows());
  for (std::size_t i = 0; i < batch.rows(); ++i) copy_row(batch, i, i);
}

void SensoryData::thaw() {
  const SensoryData frozen = std::move(*this);
  *this = SensoryData(frozen.shape_, frozen.rows());
  for (std::size_t i = 0; i < rows(); ++i) copy_row(frozen, i, i);
}

}  // namespace aurora

#include "aurora/evaluation/piece_queue.hpp"

#include <algorithm>

namespace aurora {
namespace {

constexpr std::size_t kMostHeld = 2;
constexpr std::size_t kPieces = 4;  // that each rank would get if all were as large as this one
constexpr std::size_t kMostRows = 1024;  // of a piece; bounds the memory of a message

std::size_t down_to_multiple(std::size_t n, std::size_t of) {
  return n / of * of;
}

}  // namespace

PieceQueue::PieceQueue(std::size_t ranks, std::size_t preferred)
    : ranks_(std::max<std::size_t>(ranks, 1)), preferred_(std::max<std::size_t>(preferred, 1)) {}

void PieceQueue::fill(std::size_t rows) {
  rows_ = rows;
  next_ = 0;
  returned_.clear();
  returned_rows_ = 0;
}

std::optional<Rows> PieceQueue::take(std::size_t threads, std::size_t held) {
  if (left() == 0 || held >= kMostHeld) return std::nullopt;
  if (held == 0 && !returned_.empty()) {
    const Rows piece = returned_.back();
    returned_.pop_back();
    returned_rows_ -= piece.count;
    return piece;
  }
  // All threads of a rank have work, but none has more than its share while others have nothing.
  const std::size_t share = rows_ / ranks_ + (rows_ % ranks_ > 0 ? 1 : 0);
  const std::size_t unit = std::clamp(down_to_multiple(share, preferred_), preferred_,
                                      std::max<std::size_t>(threads, 1) * preferred_);
  const std::size_t fresh = rows_ - next_;
  if (held > 0 && fresh < ranks_ * unit) return std::nullopt;
  const std::size_t large = std::min(fresh / (kPieces * ranks_), kMostRows);
  const std::size_t count = std::min(std::max(down_to_multiple(large, unit), unit), fresh);
  const Rows piece{next_, count};
  next_ += count;
  return piece;
}

void PieceQueue::put_back(const Rows& piece) {
  returned_.push_back(piece);
  returned_rows_ += piece.count;
}

std::size_t PieceQueue::drop() {
  const std::size_t rest = left();
  fill(0);
  return rest;
}

}  // namespace aurora

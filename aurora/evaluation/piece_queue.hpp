// How a batch is cut into pieces for processes that evaluate: whoever is free takes the next one.
//
// Pieces begin large and become smaller, so that messages are few and all end at about the same
// time; where a piece begins and ends changes no result.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace aurora {

/// Rows [begin, begin + count) of a batch.
struct Rows {
  std::size_t begin = 0;
  std::size_t count = 0;
};

class PieceQueue {
 public:
  /// For `ranks` processes and a task that wants multiples of `preferred` genotypes.
  PieceQueue(std::size_t ranks, std::size_t preferred);

  /// A batch of so many rows, none of which is taken.
  void fill(std::size_t rows);
  /// A piece for a process of so many threads that has `held` pieces already. Nothing if there is
  /// none left, or if those who have nothing should have it: a second piece is handed out, to wait
  /// where it will be evaluated, only while there are enough for all.
  std::optional<Rows> take(std::size_t threads, std::size_t held);
  /// A piece that was taken and will not be evaluated by whoever has it; somebody else shall.
  void put_back(const Rows& piece);
  /// Nobody shall have the rest; its rows.
  std::size_t drop();
  std::size_t left() const { return rows_ - next_ + returned_rows_; }

 private:
  std::size_t ranks_;
  std::size_t preferred_;
  std::size_t rows_ = 0;
  std::size_t next_ = 0;
  std::vector<Rows> returned_;
  std::size_t returned_rows_ = 0;
};

}  // namespace aurora

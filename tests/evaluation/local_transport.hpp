// Ranks that are threads of one process, for tests and models: messages go through memory, after a
// time that is chosen, and links can be cut.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "aurora/evaluation/transport.hpp"

namespace aurora {

class LocalNetwork {
 public:
  using Clock = std::chrono::steady_clock;

  explicit LocalNetwork(int size, std::chrono::microseconds latency = {})
      : size_(size), latency_(latency), boxes_(static_cast<std::size_t>(size)) {}

  /// The end of a rank; rank r is on a host called "host" and r / 2.
  std::unique_ptr<Transport> connect(int rank) { return std::make_unique<End>(*this, rank); }

  /// From now on nothing goes to this rank, or comes from it.
  void cut(int rank) {
    const std::scoped_lock lock(mutex_);
    cut_ = rank;
  }
  /// Its process has ended, and everybody hears of it.
  void end(int rank) {
    const std::scoped_lock lock(mutex_);
    ended_.push_back(rank);
  }
  std::size_t bytes() const {
    const std::scoped_lock lock(mutex_);
    return bytes_;
  }
  std::size_t messages() const {
    const std::scoped_lock lock(mutex_);
    return messages_;
  }
  int closed() const {
    const std::scoped_lock lock(mutex_);
    return closed_;
  }

 private:
  struct Letter {
    Message message;
    Clock::time_point arrival;
  };

  class End final : public Transport {
   public:
    End(LocalNetwork& network, int rank) : network_(network), rank_(rank) {}
    int rank() const override { return rank_; }
    int size() const override { return network_.size_; }
    std::string host() const override { return "host" + std::to_string(rank_ / 2); }
    void send(int to, std::vector<std::byte> bytes) override {
      const std::scoped_lock lock(network_.mutex_);
      if (network_.cut_ == to || network_.cut_ == rank_) return;
      if (network_.has_ended(to) || network_.has_ended(rank_)) return;
      network_.bytes_ += bytes.size();
      ++network_.messages_;
      network_.boxes_[static_cast<std::size_t>(to)].push_back(
          {{rank_, std::move(bytes)}, Clock::now() + network_.latency_});
    }
    std::optional<Message> receive() override {
      const std::scoped_lock lock(network_.mutex_);
      auto& box = network_.boxes_[static_cast<std::size_t>(rank_)];
      if (box.empty() || box.front().arrival > Clock::now()) return std::nullopt;
      if (network_.has_ended(rank_)) return std::nullopt;
      Message message = std::move(box.front().message);
      box.pop_front();
      return message;
    }
    std::vector<int> gone() override {
      const std::scoped_lock lock(network_.mutex_);
      const auto& ended = network_.ended_;
      std::vector<int> fresh(ended.begin() + static_cast<std::ptrdiff_t>(told_), ended.end());
      told_ = ended.size();
      return fresh;
    }
    bool idle() override { return true; }
    void close(double /*seconds*/) override {
      const std::scoped_lock lock(network_.mutex_);
      ++network_.closed_;
    }
    void abort(int /*status*/) override {}

   private:
    LocalNetwork& network_;
    int rank_;
    std::size_t told_ = 0;
  };

  bool has_ended(int rank) const { return std::ranges::find(ended_, rank) != ended_.end(); }

  int size_;
  std::chrono::microseconds latency_;
  mutable std::mutex mutex_;
  std::vector<std::deque<Letter>> boxes_;
  int cut_ = -1;
  std::vector<int> ended_;
  std::size_t bytes_ = 0;
  std::size_t messages_ = 0;
  int closed_ = 0;
};

}  // namespace aurora

// Values that take a while to make, by name: made once for all who ask at the same time, and kept
// for as long as there is room, the last used longest.
#pragma once

#include <cstddef>
#include <future>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <semaphore>
#include <string>
#include <utility>

namespace aurora::explore {

/// `Value` has a function bytes(). Memory is bounded by `bytes` kept, and what `at_once` makers
/// take.
template <class Value>
class SharedCache {
 public:
  using Pointer = std::shared_ptr<const Value>;

  SharedCache(std::size_t bytes, std::ptrdiff_t at_once) : room_(bytes), makers_(at_once) {}

  /// What is kept under this name, or null.
  Pointer find(const std::string& name) {
    const std::scoped_lock lock(mutex_);
    return find_kept(name);
  }

  /// Any that is kept under a name that begins so, or null.
  Pointer find_beginning(const std::string& beginning) {
    const std::scoped_lock lock(mutex_);
    const auto found = kept_.lower_bound(beginning);
    const bool fits = found != kept_.end() && found->first.starts_with(beginning);
    return fits ? found->second.value : nullptr;
  }

  /// The same as find(), or what `make` makes of it; somebody else may be making it already. What
  /// `make` throws goes to all who wait for it, and nothing is kept.
  template <class Make>
  Pointer get(const std::string& name, Make make) {
    std::promise<Pointer> promise;
    {
      // Looked for and announced under one lock: two who make the same would both keep it.
      std::unique_lock lock(mutex_);
      if (Pointer value = find_kept(name)) return value;
      const auto other = coming_.find(name);
      if (other != coming_.end()) {
        const std::shared_future<Pointer> future = other->second;
        lock.unlock();
        return future.get();
      }
      coming_.emplace(name, promise.get_future().share());
    }
    try {
      makers_.acquire();
      const Slot slot{makers_};
      Pointer value = make();
      keep(name, value);
      promise.set_value(value);
      return value;
    } catch (...) {
      forget(name);
      promise.set_exception(std::current_exception());
      throw;
    }
  }

  std::size_t bytes() const {
    const std::scoped_lock lock(mutex_);
    return used_;
  }

 private:
  struct Slot {
    std::counting_semaphore<>& makers;
    ~Slot() { makers.release(); }
  };
  struct Kept {
    Pointer value;
    std::list<std::string>::iterator place;
  };

  Pointer find_kept(const std::string& name) {
    const auto found = kept_.find(name);
    if (found == kept_.end()) return nullptr;
    order_.splice(order_.begin(), order_, found->second.place);
    return found->second.value;
  }

  void forget(const std::string& name) {
    const std::scoped_lock lock(mutex_);
    coming_.erase(name);
  }

  void keep(const std::string& name, const Pointer& value) {
    const std::scoped_lock lock(mutex_);
    coming_.erase(name);
    if (value->bytes() > room_) return;
    order_.push_front(name);
    kept_.emplace(name, Kept{value, order_.begin()});
    used_ += value->bytes();
    while (used_ > room_) {
      const auto last = kept_.find(order_.back());
      used_ -= last->second.value->bytes();
      kept_.erase(last);
      order_.pop_back();
    }
  }

  const std::size_t room_;
  std::counting_semaphore<> makers_;
  mutable std::mutex mutex_;
  std::map<std::string, Kept> kept_;
  std::list<std::string> order_;  // the last used first
  std::map<std::string, std::shared_future<Pointer>> coming_;
  std::size_t used_ = 0;
};

}  // namespace aurora::explore

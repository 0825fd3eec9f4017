// A fixed set of threads and one way to use them.
//
// Work is cut into chunks whose bounds depend only on the amount of work, never on the number of
// threads; a body that writes only to its own indices therefore gives the same bits for any number.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>

namespace aurora {

/// Looks on while something is made that may take long, and may call it off.
struct Watch {
  std::function<void(std::string_view what, double share)> progress = {};  // a share of 1 is all
  const std::atomic<bool>* stop = nullptr;

  bool stopped() const { return stop != nullptr && *stop; }
  /// Says how far it has come. Interrupted if it shall end here.
  void tell(std::string_view what, double share) const;
};

class Workers {
 public:
  /// `threads` >= 1 counts the calling thread: one thread means that nothing is ever spawned. There
  /// are fewer if the operating system does not give so many.
  explicit Workers(std::size_t threads = 1);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  std::size_t threads() const;

  /// Calls body(begin, end) once for each chunk [0, grain), [grain, 2 grain), ... of [0, count) and
  /// returns when all are done. Every chunk runs; if some throw, the exception of the lowest chunk
  /// is thrown on. A call from inside a body runs its chunks on the thread that calls.
  void parallel_for(std::size_t count, std::size_t grain,
                    const std::function<void(std::size_t, std::size_t)>& body);

 private:
  struct Job;
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace aurora

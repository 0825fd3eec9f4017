#include "aurora/core/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <limits>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "aurora/core/errors.hpp"

namespace aurora {
namespace {

constexpr std::size_t kMaxThreads = 4096;

thread_local bool inside_body = false;

using Body = std::function<void(std::size_t, std::size_t)>;

/// Waits until `ready()`, without sleeping, but not for long. To put a thread to sleep and wake it
/// again takes longer than many a pause between two jobs.
template <class Ready>
void soon(const Ready& ready) {
  constexpr std::chrono::microseconds kPatience(50);
  const auto start = std::chrono::steady_clock::now();
  while (!ready() && std::chrono::steady_clock::now() - start < kPatience) {
    std::this_thread::yield();
  }
}

}  // namespace

void Watch::tell(std::string_view what, double share) const {
  if (stopped()) throw Interrupted(std::string(what) + ": called off");
  if (progress) progress(what, share);
}

/// One parallel_for: the chunks are handed out by an atomic counter.
struct Workers::Job {
  const Body* body;
  std::size_t count;
  std::size_t grain;
  std::atomic<std::size_t> next{0};
  std::mutex mutex{};
  std::size_t failed_chunk = std::numeric_limits<std::size_t>::max();
  std::exception_ptr failure{};

  void work() {
    inside_body = true;
    const std::size_t chunks = (count + grain - 1) / grain;
    for (std::size_t c = 0; (c = next.fetch_add(1, std::memory_order_relaxed)) < chunks;) {
      try {
        (*body)(c * grain, std::min(count, (c + 1) * grain));
      } catch (...) {
        const std::scoped_lock lock(mutex);
        if (c < failed_chunk) {
          failed_chunk = c;
          failure = std::current_exception();
        }
      }
    }
    inside_body = false;
  }
};

struct Workers::State {
  std::mutex mutex;  // of what follows; the atomics are also looked at without it
  Job* job = nullptr;
  std::atomic<std::uint64_t> generation = 0;  // of the job
  std::atomic<std::size_t> busy = 0;          // threads at the job
  std::atomic<bool> stop = false;
  std::condition_variable wake;
  std::condition_variable done;
  std::vector<std::thread> threads;

  void thread_main() {
    std::uint64_t seen = 0;
    const auto called = [&] { return stop || generation != seen; };
    for (;;) {
      soon(called);
      std::unique_lock lock(mutex);
      wake.wait(lock, called);
      if (stop) return;
      seen = generation;
      if (job == nullptr) continue;  // too late: the others have done it all
      Job& current = *job;
      ++busy;
      lock.unlock();
      current.work();
      lock.lock();
      if (--busy == 0) done.notify_one();
    }
  }
};

Workers::Workers(std::size_t threads) : state_(std::make_unique<State>()) {
  if (threads == 0 || threads > kMaxThreads) {
    throw UsageError("the number of threads must be between 1 and " + std::to_string(kMaxThreads) +
                     ", not " + std::to_string(threads));
  }
  state_->threads.reserve(threads - 1);
  for (std::size_t i = 1; i < threads; ++i) {
    try {
      state_->threads.emplace_back([state = state_.get()] { state->thread_main(); });
    } catch (const std::system_error&) {
      break;  // the machine has no more to give; fewer threads do the same work
    }
  }
}

Workers::~Workers() {
  {
    const std::scoped_lock lock(state_->mutex);
    state_->stop = true;
  }
  state_->wake.notify_all();
  for (std::thread& thread : state_->threads) thread.join();
}

std::size_t Workers::threads() const {
  return state_->threads.size() + 1;
}

void Workers::parallel_for(std::size_t count, std::size_t grain, const Body& body) {
  if (count == 0) return;
  Job job{.body = &body, .count = count, .grain = std::max<std::size_t>(grain, 1)};
  if (inside_body) {
    job.work();
    inside_body = true;
  } else if (state_->threads.empty() || count <= job.grain) {
    job.work();
  } else {
    {
      const std::scoped_lock lock(state_->mutex);
      state_->job = &job;
      ++state_->generation;
    }
    state_->wake.notify_all();
    job.work();
    {
      const std::scoped_lock lock(state_->mutex);
      state_->job = nullptr;  // nobody comes in any more
    }
    const auto done = [&] { return state_->busy == 0; };
    soon(done);
    std::unique_lock lock(state_->mutex);
    state_->done.wait(lock, done);
  }
  if (job.failure) std::rethrow_exception(job.failure);
}

}  // namespace aurora

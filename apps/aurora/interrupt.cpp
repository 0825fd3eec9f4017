#include "apps/aurora/interrupt.hpp"

#include <csignal>

namespace aurora {
namespace {

std::atomic<bool> flag{false};
std::atomic<int> signal_number{0};
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free,
              "a signal handler may only touch lock-free atomics");

void raise_flag(int number) {
  signal_number = number;
  flag = true;
}

void handle(int number, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = handler == SIG_DFL ? 0 : static_cast<int>(SA_RESETHAND);
  sigemptyset(&action.sa_mask);
  sigaction(number, &action, nullptr);
}

}  // namespace

InterruptFlag::InterruptFlag() {
  signal_number = 0;
  flag = false;
  handle(SIGINT, raise_flag);
  handle(SIGTERM, raise_flag);
}

InterruptFlag::~InterruptFlag() {
  handle(SIGINT, SIG_DFL);
  handle(SIGTERM, SIG_DFL);
}

const std::atomic<bool>& InterruptFlag::raised() const {
  return flag;
}

int InterruptFlag::exit_status() const {
  const int number = signal_number;
  return number == 0 ? 0 : 128 + number;
}

}  // namespace aurora

#include "apps/aurora/interrupt.hpp"

#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string>

#include "aurora/evaluation/mpi_launch.hpp"
#include "aurora/experiments/scheduler.hpp"

namespace aurora {
namespace {

constexpr const char* kAdopter = "AURORA_EXPERIMENT";

std::atomic<bool> flag{false};
std::atomic<bool> checkpoint_flag{false};
std::atomic<int> signal_number{0};
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free,
              "a signal handler may only touch lock-free atomics");

/// After the first one, the next SIGINT or SIGTERM ends the program, whatever it is at.
void raise_flag(int number) {
  signal_number = number;
  flag = true;
  signal(SIGINT, SIG_DFL);
  signal(SIGTERM, SIG_DFL);
}

/// However often it comes, and whatever came before it.
void raise_flag_gently(int number) {
  signal_number = number;
  flag = true;
}

void raise_checkpoint_flag(int /*number*/) {
  checkpoint_flag = true;
}

/// `nohup` starts programs that shall outlive their terminal.
bool is_ignored(int number) {
  struct sigaction action {};
  sigaction(number, nullptr, &action);
  return action.sa_handler == SIG_IGN;
}

void handle(int number, void (*handler)(int), int flags = 0) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigemptyset(&action.sa_mask);
  sigaction(number, &action, nullptr);
}

}  // namespace

void adopt_runs() {
  setenv(kAdopter, std::to_string(getpid()).c_str(), 1);
  forget_mpi_launch();
}

void end_with_adopter() {
  if (std::getenv(kAdopter) == nullptr) return;
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (!is_adopted()) raise(SIGTERM);  // it is already gone
}

bool is_adopted() {
  const char* adopter = std::getenv(kAdopter);
  return adopter != nullptr && std::to_string(getppid()) == adopter;
}

InterruptFlag::InterruptFlag() {
  signal_number = 0;
  flag = false;
  checkpoint_flag = false;
  handle(SIGINT, raise_flag);
  handle(SIGTERM, raise_flag);
  // A terminal or a connection that is gone: the system tells the program, and the shell does so
  // again. However many come, what there is gets saved.
  if (!is_ignored(SIGHUP)) handle(SIGHUP, raise_flag);
  handle(kEndsRun, raise_flag_gently);
  handle(SIGUSR1, raise_checkpoint_flag, SA_RESTART);
  // A limit on the size of files, and a reader that has gone, are errors of the write that meets
  // them, not the end of the run.
  handle(SIGXFSZ, SIG_IGN);
  handle(SIGPIPE, SIG_IGN);
}

InterruptFlag::~InterruptFlag() {
  handle(SIGINT, SIG_DFL);
  handle(SIGTERM, SIG_DFL);
  // Whoever was told to end does so with the status that says it, whatever the shell still sends.
  if (!is_ignored(SIGHUP)) handle(SIGHUP, flag ? SIG_IGN : SIG_DFL);
  handle(kEndsRun, SIG_DFL);
  handle(SIGUSR1, SIG_DFL);
  handle(SIGXFSZ, SIG_DFL);
  handle(SIGPIPE, SIG_DFL);
}

const std::atomic<bool>& InterruptFlag::raised() const {
  return flag;
}

std::atomic<bool>& InterruptFlag::checkpoint_wanted() const {
  return checkpoint_flag;
}

int InterruptFlag::exit_status() const {
  const int number = signal_number;
  return number == 0 ? 0 : 128 + number;
}

}  // namespace aurora

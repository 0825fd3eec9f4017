// Signals as flags that the run looks at between two iterations: Ctrl-C, SIGTERM and SIGHUP (but
// not under nohup) end it, SIGUSR2 is how an experiment ends its runs, SIGUSR1 asks for a
// checkpoint.
#pragma once

#include <atomic>

namespace aurora {

/// Whoever starts runs calls the first, and each of these runs the second: it then gets a SIGTERM
/// when the other has ended, however that came about, and leaves its directory free for the next.
/// Under mpirun only the one that starts runs is a rank.
void adopt_runs();
void end_with_adopter();
/// Whether this is such a run.
bool is_adopted();

/// While it lives, the first SIGINT, SIGTERM or SIGHUP sets the flag and a SIGINT or SIGTERM after
/// it ends the process; SIGUSR2 only sets it, and SIGUSR1 sets the other flag, any number of times.
/// Signal handlers reach nothing but globals, so only one may live at a time.
class InterruptFlag {
 public:
  InterruptFlag();
  ~InterruptFlag();
  InterruptFlag(const InterruptFlag&) = delete;
  InterruptFlag& operator=(const InterruptFlag&) = delete;

  const std::atomic<bool>& raised() const;
  /// Set by SIGUSR1; to be reset by whoever does what it asks for.
  std::atomic<bool>& checkpoint_wanted() const;
  /// 128 + the signal's number, as shells have it; 0 if none came.
  int exit_status() const;
};

}  // namespace aurora

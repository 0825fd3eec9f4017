// Ctrl-C and SIGTERM as a flag that the run looks at between two iterations.
#pragma once

#include <atomic>

namespace aurora {

/// While it lives, the first SIGINT or SIGTERM sets the flag and a second one ends the process.
/// Signal handlers reach nothing but globals, so only one may live at a time.
class InterruptFlag {
 public:
  InterruptFlag();
  ~InterruptFlag();
  InterruptFlag(const InterruptFlag&) = delete;
  InterruptFlag& operator=(const InterruptFlag&) = delete;

  const std::atomic<bool>& raised() const;
  /// 128 + the signal's number, as shells have it; 0 if none came.
  int exit_status() const;
};

}  // namespace aurora

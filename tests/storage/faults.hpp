// Faults of the file system, for tests: to be included by one source of a test program.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <cstring>

/// What shall go wrong. Every system call by which the file layer changes something passes the
/// functions below, which stand in front of the C library's.
struct Faults {
  bool on = false;
  int calls = 0;              // seen so far
  int fail_at = -1;           // the call that fails
  int error = 0;              // with this error number; 0: the process dies there instead
  bool no_exchange = false;   // a file system that cannot exchange two names
  std::size_t max_write = 0;  // bytes per write(); 0: no limit
  bool interrupt = false;     // every second write() is interrupted by a signal
  int writes = 0;
  bool removals = false;               // calls that remove something count too
  const char* no_directory = nullptr;  // directories whose path holds this cannot be made
};
inline Faults faults;

/// True if the call that asks shall fail, with errno set.
inline bool fails() {
  if (!faults.on || faults.calls++ != faults.fail_at) return false;
  if (faults.error == 0) ::_exit(77);
  errno = faults.error;
  return true;
}

extern "C" {

int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & O_CREAT) ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  return fails() ? -1 : static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}

ssize_t write(int descriptor, const void* data, size_t bytes) {
  if (fails()) return -1;
  if (faults.on && faults.interrupt && faults.writes++ % 2 == 0) {
    errno = EINTR;
    return -1;
  }
  if (faults.on && faults.max_write > 0) bytes = std::min(bytes, faults.max_write);
  return ::syscall(SYS_write, descriptor, data, bytes);
}

// No test has a power cut, so nobody waits for the disk.
int fsync(int /*descriptor*/) {
  return fails() ? -1 : 0;
}

int mkdir(const char* path, mode_t mode) noexcept {
  if (faults.no_directory && std::strstr(path, faults.no_directory)) {
    errno = ENOSPC;
    return -1;
  }
  return fails() ? -1 : static_cast<int>(::syscall(SYS_mkdirat, AT_FDCWD, path, mode));
}

int unlinkat(int directory, const char* path, int flags) noexcept {
  if (faults.removals && fails()) return -1;
  return static_cast<int>(::syscall(SYS_unlinkat, directory, path, flags));
}

int rename(const char* from, const char* to) noexcept {
  return fails() ? -1 : static_cast<int>(::syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}

int renameat2(int from_directory, const char* from, int to_directory, const char* to,
              unsigned flags) noexcept {
  if (faults.on && faults.no_exchange) {
    errno = EINVAL;
    return -1;
  }
  if (fails()) return -1;
  return static_cast<int>(::syscall(SYS_renameat2, from_directory, from, to_directory, to, flags));
}
}

/// Faults for the rest of a block.
class WithFaults {
 public:
  explicit WithFaults(Faults wanted) {
    faults = wanted;
    faults.on = true;
  }
  ~WithFaults() { faults = {}; }
};

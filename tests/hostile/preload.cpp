// A machine with faults, for scripts/hostile: preloaded, it stands in front of the C library of the
// real program. The environment says what goes wrong:
//
//   HOSTILE_CLOCK=1        every look at the clock finds it an hour earlier than the one before
//   HOSTILE_NO_EXCHANGE=1  no two names can be exchanged, as on many network file systems
//   HOSTILE_FAIL_AT=N      the Nth call that changes a file fails,
//   HOSTILE_ERROR=E        with this error number; 0: the process is killed there
//   HOSTILE_COUNT=FILE     no fault; the number of such calls goes to FILE at the end
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>

namespace {

long number_in(const char* name) {
  const char* text = std::getenv(name);
  return text ? std::atol(text) : 0;
}

const bool kClock = number_in("HOSTILE_CLOCK") != 0;
const bool kNoExchange = number_in("HOSTILE_NO_EXCHANGE") != 0;
const long kFailAt = number_in("HOSTILE_FAIL_AT");
const int kError = static_cast<int>(number_in("HOSTILE_ERROR"));
std::atomic<long> calls{0};
std::atomic<long> looks{0};

bool fails() {
  if (++calls != kFailAt) return false;
  if (kError == 0) kill(getpid(), SIGKILL);
  errno = kError;
  return true;
}

template <class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

void earlier(time_t& seconds) {
  constexpr time_t kHour = 3600;
  seconds -= kHour * ++looks;
}

const struct AtTheEnd {
  ~AtTheEnd() {
    const char* name = std::getenv("HOSTILE_COUNT");
    std::FILE* file = name ? std::fopen(name, "w") : nullptr;
    if (file) {
      std::fprintf(file, "%ld\n", calls.load());
      std::fclose(file);
    }
  }
} at_the_end;

}  // namespace

extern "C" {

int clock_gettime(clockid_t clock, struct timespec* when) noexcept {
  const long status = syscall(SYS_clock_gettime, clock, when);
  if (status == 0 && kClock && clock == CLOCK_REALTIME) earlier(when->tv_sec);
  return static_cast<int>(status);
}

time_t time(time_t* when) noexcept {
  struct timespec now {};
  clock_gettime(CLOCK_REALTIME, &now);
  if (when) *when = now.tv_sec;
  return now.tv_sec;
}

int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & O_CREAT) ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  if ((flags & O_ACCMODE) != O_RDONLY && fails()) return -1;
  return static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}

ssize_t write(int descriptor, const void* data, size_t bytes) {
  if (descriptor > 2 && fails()) return -1;
  return syscall(SYS_write, descriptor, data, bytes);
}

int fsync(int descriptor) {
  return fails() ? -1 : next<int (*)(int)>("fsync")(descriptor);
}

int ftruncate(int descriptor, off_t size) noexcept {
  return fails() ? -1 : next<int (*)(int, off_t)>("ftruncate")(descriptor, size);
}

int mkdir(const char* path, mode_t mode) noexcept {
  return fails() ? -1 : static_cast<int>(syscall(SYS_mkdirat, AT_FDCWD, path, mode));
}

int unlinkat(int directory, const char* path, int flags) noexcept {
  return fails() ? -1 : static_cast<int>(syscall(SYS_unlinkat, directory, path, flags));
}

int rename(const char* from, const char* to) noexcept {
  return fails() ? -1 : static_cast<int>(syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}

int renameat2(int from_directory, const char* from, int to_directory, const char* to,
              unsigned flags) noexcept {
  if (kNoExchange && flags != 0) {
    errno = EINVAL;
    return -1;
  }
  if (fails()) return -1;
  return static_cast<int>(syscall(SYS_renameat2, from_directory, from, to_directory, to, flags));
}
}

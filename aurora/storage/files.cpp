#include "aurora/storage/files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <new>
#include <system_error>
#include <vector>

#include "aurora/core/errors.hpp"

namespace aurora {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 18;
constexpr mode_t kFileMode = 0666;       // less the umask
constexpr mode_t kDirectoryMode = 0777;  // less the umask

std::string reason(int error) {
  return std::generic_category().message(error);
}

[[noreturn]] void fail(std::string_view doing, const fs::path& path, int error) {
  throw FileError(fmt::format("cannot {} '{}': {}", doing, path.string(), reason(error)));
}

/// Calls again for as long as a signal interrupts.
template <class Call>
auto retry(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

FileHandle open_file(const fs::path& path, int flags) {
  return FileHandle(retry([&] { return ::open(path.c_str(), flags | O_CLOEXEC, kFileMode); }));
}

/// Writes all bytes, however many calls it takes. The error number, or 0.
int write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = retry([&] { return ::write(descriptor, bytes.data(), bytes.size()); });
    if (written < 0) return errno;
    if (written == 0) return EIO;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

/// Waits until the disk has the file. The error number, or 0; what cannot be synced (devices, some
/// network file systems' directories) counts as synced.
int sync_descriptor(int descriptor) {
  if (retry([&] { return ::fsync(descriptor); }) == 0) return 0;
  return errno == EINVAL || errno == ENOTSUP ? 0 : errno;
}

void sync_directory(const fs::path& path) {
  const FileHandle directory = open_file(path, O_RDONLY | O_DIRECTORY);
  if (directory.get() < 0) {
    if (errno == EACCES) return;  // we may write into it without the right to read it
    fail("open directory", path, errno);
  }
  if (const int error = sync_descriptor(directory.get())) fail("sync directory", path, error);
}

void sync_tree(const fs::path& path) {
  std::error_code error;
  for (fs::recursive_directory_iterator entry(path, error), end; !error && entry != end;
       entry.increment(error)) {
    if (fs::is_directory(entry->symlink_status(error))) sync_directory(entry->path());
  }
  if (error) fail("read directory", path, error.value());
  sync_directory(path);
}

fs::path parent_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

/// ".NAME.ENDING" beside `path`. A long name is cut, so that the new one is not too long.
fs::path name_beside(const fs::path& path, std::string_view ending) {
  const std::string name = path.filename().string().substr(0, 200);
  return parent_of(path) / fmt::format(".{}.{}", name, ending);
}

fs::path without_trailing_slash(const fs::path& path) {
  return path.has_filename() ? path : path.parent_path();
}

bool is_there(const fs::path& path) {
  struct stat status;
  return ::lstat(path.c_str(), &status) == 0;
}

bool is_directory_there(const fs::path& path) {
  struct stat status;
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

/// The file that a chain of symbolic links leads to; `path` itself if there is none.
fs::path followed(const fs::path& path) {
  std::error_code error;
  if (!fs::is_symlink(fs::symlink_status(path, error))) return path;
  fs::path target = fs::canonical(path, error);
  if (error) fail("follow", path, error.value());
  return target;
}

void remove_tree(const fs::path& path) {
  std::error_code error;
  fs::remove_all(path, error);
  if (error) fail("remove", path, error.value());
}

/// For paths where there is an error on its way already, or where a leftover does no harm.
void try_remove_tree(const fs::path& path) noexcept {
  std::error_code error;
  fs::remove_all(path, error);
}

void rename_path(const fs::path& from, const fs::path& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) fail("replace", to, errno);
}

/// Swaps two names in one step. False if the file system cannot do that.
bool exchange_paths(const fs::path& a, const fs::path& b) {
#ifdef RENAME_EXCHANGE
  if (::renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE) == 0) return true;
  if (errno != EINVAL && errno != ENOSYS && errno != ENOTSUP) fail("replace", b, errno);
#else
  static_cast<void>(a), static_cast<void>(b);
#endif
  return false;
}

/// What becomes of the old directory once the new one is in place. A leftover does no harm.
void retire(const fs::path& old, const fs::path& previous) {
  if (!previous.empty()) {
    try_remove_tree(previous);
    if (::rename(old.c_str(), previous.c_str()) == 0) return;
  }
  try_remove_tree(old);
}

/// The new directory takes the place of the old one, which becomes `previous` or is removed.
void replace_directory(const fs::path& fresh, const fs::path& path, const fs::path& aside,
                       const fs::path& previous) {
  if (!is_there(path)) {
    rename_path(fresh, path);
    sync_directory(parent_of(path));
    return;
  }
  if (exchange_paths(fresh, path)) {
    sync_directory(parent_of(path));
    retire(fresh, previous);
    return;
  }
  rename_path(path, aside);
  try {
    rename_path(fresh, path);
  } catch (const FileError&) {
    rename_path(aside, path);
    throw;
  }
  sync_directory(parent_of(path));
  retire(aside, previous);
}

/// Whether the open file is the one that `path` names. Its number cannot be another's as long as it
/// is open.
bool is_at(const fs::path& path, const FileHandle& file) {
  struct stat there;
  struct stat held;
  return ::stat(path.c_str(), &there) == 0 && ::fstat(file.get(), &held) == 0 &&
         there.st_dev == held.st_dev && there.st_ino == held.st_ino;
}

/// Makes a directory and what is missing above it; those made are added to `made`. The error
/// number, or 0.
int make_missing(const fs::path& path, std::vector<fs::path>& made) {
  fs::path part;
  for (const fs::path& name : path) {
    part /= name;
    if (::mkdir(part.c_str(), kDirectoryMode) == 0) {
      made.push_back(part);
    } else if (errno != EEXIST) {
      return errno;
    }
  }
  return is_directory_there(path) ? 0 : ENOTDIR;
}

/// As make_missing, and takes back what it made if it cannot make all.
int make_all_or_none(const fs::path& path) {
  std::vector<fs::path> made;
  int error = make_missing(path, made);
  if (error == 0) {
    for (const fs::path& directory : made) sync_directory(parent_of(directory));
    return 0;
  }
  std::ranges::reverse(made);
  for (const fs::path& directory : made) ::rmdir(directory.c_str());
  return error;
}

}  // namespace

Checksum::Checksum() : state_(XXH3_createState()) {
  if (!state_) throw std::bad_alloc();
  XXH3_64bits_reset(state_.get());
}

void Checksum::update(std::span<const std::byte> bytes) {
  if (!bytes.empty()) XXH3_64bits_update(state_.get(), bytes.data(), bytes.size());
}

std::uint64_t Checksum::value() const {
  return XXH3_64bits_digest(state_.get());
}

std::string Checksum::text() const {
  return fmt::format("{:016x}", value());
}

void Checksum::Free::operator()(XXH3_state_s* state) const {
  XXH3_freeState(state);
}

FileHandle& FileHandle::operator=(FileHandle&& other) noexcept {
  FileHandle old(std::exchange(descriptor_, std::exchange(other.descriptor_, -1)));
  return *this;
}

FileHandle::~FileHandle() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

OutputFile::OutputFile(fs::path path, fs::path called)
    : path_(std::move(path)),
      called_(called.empty() ? path_ : std::move(called)),
      file_(open_file(path_, O_WRONLY | O_CREAT | O_EXCL)) {
  if (file_.get() < 0) fail("write", called_, errno);
}

OutputFile::OutputFile(fs::path path, Existing)
    : path_(std::move(path)),
      called_(path_),
      file_(open_file(path_, O_WRONLY | O_NOCTTY)),
      temporary_(false) {
  if (file_.get() < 0) fail("write", called_, errno);
}

OutputFile::~OutputFile() {
  if (temporary_) ::unlink(path_.c_str());
}

void OutputFile::write(std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  checksum_.update(bytes);
  bytes_ += bytes.size();
  if (buffer_.size() + text.size() > kBufferBytes) flush();
  if (text.size() < kBufferBytes) {
    buffer_ += text;
  } else if (const int error = write_all(file_.get(), text)) {
    fail("write", called_, error);
  }
}

void OutputFile::flush() {
  if (const int error = write_all(file_.get(), buffer_)) fail("write", called_, error);
  buffer_.clear();
}

void OutputFile::close() {
  flush();
  if (const int error = sync_descriptor(file_.get())) fail("write", called_, error);
  if (::close(file_.release()) != 0 && errno != EINTR) fail("write", called_, errno);
  temporary_ = false;
}

InputFile::InputFile(fs::path path)
    // A pipe without a writer must not make us wait: non-blocking until we know what it is.
    : path_(std::move(path)), file_(open_file(path_, O_RDONLY | O_NONBLOCK)) {
  struct stat status;
  if (file_.get() < 0 || ::fstat(file_.get(), &status) != 0) fail("read", path_, errno);
  if (!S_ISREG(status.st_mode)) {
    throw FileError(fmt::format("cannot read '{}': it is not a regular file", path_.string()));
  }
  size_ = static_cast<std::uint64_t>(status.st_size);
}

void InputFile::read(std::span<std::byte> out) {
  std::span<std::byte> rest = out;
  while (!rest.empty()) {
    const ssize_t got = retry([&] { return ::read(file_.get(), rest.data(), rest.size()); });
    if (got < 0) fail("read", path_, errno);
    if (got == 0 || static_cast<std::uint64_t>(got) > left()) {
      throw DataError(
          fmt::format("'{}' is truncated, or changed while it was read: {} bytes more "
                      "were expected after byte {}",
                      path_.string(), rest.size(), position_));
    }
    position_ += static_cast<std::uint64_t>(got);
    rest = rest.subspan(static_cast<std::size_t>(got));
  }
  checksum_.update(out);
}

void InputFile::skip(std::uint64_t bytes) {
  if (bytes > left()) {
    throw DataError(fmt::format("'{}' is truncated: {} bytes more were expected after byte {}",
                                path_.string(), bytes, position_));
  }
  if (::lseek(file_.get(), static_cast<off_t>(position_ + bytes), SEEK_SET) < 0) {
    fail("read", path_, errno);
  }
  position_ += bytes;
}

AppendFile::AppendFile(fs::path path)
    : path_(std::move(path)),
      // Without O_NONBLOCK, a pipe that nobody reads would keep us here.
      file_(open_file(path_, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK)) {
  struct stat status;
  if (file_.get() < 0 || ::fstat(file_.get(), &status) != 0) fail("write", path_, errno);
  if (!S_ISREG(status.st_mode)) fail("write", path_, EINVAL);
  size_ = static_cast<std::uint64_t>(status.st_size);
}

void AppendFile::append(std::string_view lines) {
  if (const int error = write_all(file_.get(), lines)) {
    // Devices cannot be cut back; the error that counts is the first one.
    static_cast<void>(::ftruncate(file_.get(), static_cast<off_t>(size_)) == 0);
    fail("write", path_, error);
  }
  size_ += lines.size();
}

bool AppendFile::in_place() const {
  return is_at(path_, file_);
}

void AppendFile::sync() {
  if (const int error = sync_descriptor(file_.get())) fail("write", path_, error);
}

namespace {

/// Descriptors of the locks of this process, plus 1; 0 is a free place. A child that a task forks
/// would hold them on after our death, so it closes its copies; handlers of fork() reach nothing
/// but globals.
std::array<std::atomic<int>, 16> locks_held{};

void let_go_in_child() {
  for (std::atomic<int>& lock : locks_held) {
    if (const int held = lock.exchange(0); held > 0) ::close(held - 1);
  }
}

/// Puts `to` in the place of `from`.
void exchange_lock(int from, int to) {
  static const int once = ::pthread_atfork(nullptr, nullptr, let_go_in_child);
  static_cast<void>(once);
  for (std::atomic<int>& lock : locks_held) {
    int expected = from;
    if (lock.compare_exchange_strong(expected, to)) return;
  }
}

}  // namespace

FileLock::FileLock(fs::path path, const fs::path& used) : path_(std::move(path)) {
  for (bool ours = false; !ours;) {
    file_ = open_file(path_, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK);
    struct stat status;
    if (file_.get() < 0 || ::fstat(file_.get(), &status) != 0) fail("write", path_, errno);
    if (!S_ISREG(status.st_mode)) fail("write", path_, EINVAL);
    if (retry([&] { return ::flock(file_.get(), LOCK_EX | LOCK_NB); }) != 0) {
      if (errno != EWOULDBLOCK) fail("lock", path_, errno);
      throw InUse(fmt::format("'{}' is in use by {}; wait until it has ended, or stop it first",
                              used.string(), holder(path_)));
    }
    // Whoever held the lock may have removed the file between our two calls.
    ours = in_place();
  }
  exchange_lock(0, file_.get() + 1);
  // Only for people; a full disk does not matter.
  std::array<char, 256> host{};
  static_cast<void>(::gethostname(host.data(), host.size() - 1));
  const std::string who = fmt::format("{} on {}", ::getpid(), host.data());
  static_cast<void>(::ftruncate(file_.get(), 0) == 0 && write_all(file_.get(), who) == 0);
}

std::string FileLock::holder(const fs::path& path) {
  const FileHandle file = open_file(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  std::array<char, 512> text{};
  const bool known = file.get() >= 0 && ::pread(file.get(), text.data(), text.size() - 1, 0) > 0;
  return known ? fmt::format("process {}", text.data()) : std::string("another process");
}

FileLock::~FileLock() {
  if (file_.get() < 0) return;
  exchange_lock(file_.get() + 1, 0);
  if (in_place()) ::unlink(path_.c_str());
}

bool FileLock::in_place() const {
  return is_at(path_, file_);
}

void write_file(const fs::path& path, const std::function<void(OutputFile&)>& content,
                Links links) {
  struct stat status;
  const bool follow = links == Links::follow;
  const bool found = (follow ? ::stat(path.c_str(), &status) : ::lstat(path.c_str(), &status)) == 0;
  if (found && S_ISDIR(status.st_mode)) fail("write", path, EISDIR);
  if (found && follow && !S_ISREG(status.st_mode)) {
    OutputFile device(path, OutputFile::Existing{});
    content(device);
    device.close();
    return;
  }

  const fs::path target = found && follow ? followed(path) : path;
  const fs::path aside = name_beside(target, fmt::format("{}.new", ::getpid()));
  ::unlink(aside.c_str());  // a dead process may have had our number
  OutputFile file(aside, path);
  content(file);
  file.close();
  if (::rename(aside.c_str(), target.c_str()) != 0) {
    const int error = errno;
    ::unlink(aside.c_str());
    fail("write", path, error);
  }
  sync_directory(parent_of(target));
}

void write_file(const fs::path& path, std::span<const std::byte> bytes, Links links) {
  write_file(
      path, [&](OutputFile& file) { file.write(bytes); }, links);
}

void write_file(const fs::path& path, std::string_view text, Links links) {
  write_file(path, std::as_bytes(std::span(text)), links);
}

std::string read_file(const fs::path& path, std::uint64_t limit) {
  InputFile file(path);
  if (file.size() > limit) {
    throw DataError(fmt::format("'{}' has {} bytes; at most {} are allowed", path.string(),
                                file.size(), limit));
  }
  std::string text(static_cast<std::size_t>(file.size()), '\0');
  file.read(std::as_writable_bytes(std::span(text)));
  return text;
}

void write_directory(const fs::path& path, const std::function<void(const fs::path&)>& content,
                     const fs::path& previous) {
  const fs::path target = without_trailing_slash(path);
  const fs::path fresh = name_beside(target, "new");
  const fs::path aside = name_beside(target, "old");

  // What a crash may have left: the only whole version aside, or a version that is done with.
  if (whole_directory(target) == aside) rename_path(aside, target);
  remove_tree(aside);
  remove_tree(fresh);

  if (::mkdir(fresh.c_str(), kDirectoryMode) != 0) fail("create directory", fresh, errno);
  try {
    content(fresh);
    sync_tree(fresh);
    replace_directory(fresh, target, aside, previous);
  } catch (...) {
    try_remove_tree(fresh);
    if (is_there(target)) try_remove_tree(aside);
    throw;
  }
}

fs::path whole_directory(const fs::path& path) {
  const fs::path target = without_trailing_slash(path);
  const fs::path aside = name_beside(target, "old");
  return !is_there(target) && is_there(aside) ? aside : target;
}

void remove_leftovers(const fs::path& directory) {
  std::error_code ignored;  // they do no harm
  for (const auto& entry : fs::directory_iterator(directory, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with('.') && name.ends_with(".new")) fs::remove_all(entry.path(), ignored);
  }
}

void remove_path(const fs::path& path) {
  remove_tree(path);
}

void move_path(const fs::path& from, const fs::path& to) {
  remove_tree(to);
  rename_path(from, to);
  sync_directory(parent_of(to));
}

void make_directories(const fs::path& path) {
  if (const int error = make_all_or_none(path)) fail("create directory", path, error);
}

void make_own_directory(const fs::path& path) {
  if (fs::is_symlink(fs::symlink_status(path))) {
    throw FileError(
        fmt::format("'{}' is a symbolic link: nothing is written through it", path.string()));
  }
  make_directories(path);
}

void create_fresh_directory(const fs::path& path, std::string_view remedy) {
  const fs::path target = without_trailing_slash(path);
  if (is_there(target) && !is_directory_there(target)) {
    throw FileError(fmt::format("'{}' exists and is not a directory; {}", target.string(), remedy));
  }
  if (const int error = make_all_or_none(target)) {
    throw FileError(fmt::format("cannot create directory '{}': {}; {}", target.string(),
                                reason(error), remedy));
  }
  std::error_code error;
  const bool empty = fs::is_empty(target, error);
  if (error) fail("read directory", target, error.value());
  if (!empty) {
    throw FileError(fmt::format("'{}' exists and is not empty; {}", target.string(), remedy));
  }
}

}  // namespace aurora

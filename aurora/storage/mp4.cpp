#include "aurora/storage/mp4.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <string_view>
#include <system_error>
#include <vector>

#include "aurora/core/errors.hpp"
#include "aurora/storage/files.hpp"
#include "aurora/storage/internal/frames.hpp"

namespace aurora {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMp4MaxSide = 16'384;
constexpr double kShortestFrame = 0.01;                      // seconds
constexpr std::uint64_t kSearched = std::uint64_t{4} << 20;  // bytes from the front
constexpr std::string_view kNoProgram =
    "films as MP4 need the program ffmpeg, and it is not on the PATH: install it (Debian: apt-get "
    "install ffmpeg), or choose another kind of film";

[[noreturn]] void fail(const fs::path& path, const std::string& why) {
  throw FileError(fmt::format("cannot write '{}': {}", path.string(), why));
}

/// A running ffmpeg that reads frames and complains into a pipe.
class Encoding {
 public:
  Encoding(const fs::path& path, const std::vector<std::string>& words) : path_(path) {
    std::array<int, 2> in{};
    std::array<int, 2> err{};
    // A socket, for a write to one that nobody reads any more can be told to raise no signal.
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, in.data()) != 0) {
      fail(path_, std::generic_category().message(errno));
    }
    frames_ = FileHandle(in[0]);
    const FileHandle theirs(in[1]);
    if (::pipe2(err.data(), O_CLOEXEC) != 0) fail(path_, std::generic_category().message(errno));
    complaints_ = FileHandle(err[0]);
    const FileHandle their_complaints(err[1]);

    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, theirs.get(), 0);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, their_complaints.get(), 2);
    std::vector<char*> argv;
    for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    const int error = ::posix_spawnp(&process_, "ffmpeg", &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error == ENOENT) throw FileError(std::string(kNoProgram));
    if (error != 0) fail(path_, std::generic_category().message(error));
  }
  ~Encoding() {
    frames_ = FileHandle();
    if (process_ > 0) wait();
  }
  Encoding(const Encoding&) = delete;
  Encoding& operator=(const Encoding&) = delete;

  /// Whether it was taken; who does not has a reason, which finish() tells.
  bool send(std::span<const std::uint8_t> bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(frames_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent <= 0) return false;
      bytes = bytes.subspan(static_cast<std::size_t>(sent));
    }
    return true;
  }

  /// Waits for the end. FileError if it was no good one.
  void finish() {
    frames_ = FileHandle();
    std::string said;
    std::array<char, 4096> piece;
    for (;;) {
      const ssize_t got = ::read(complaints_.get(), piece.data(), piece.size());
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) break;
      said.append(piece.data(), static_cast<std::size_t>(got));
    }
    const int status = wait();
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
    said.resize(std::min(said.find_last_not_of('\n') + 1, std::size_t{500}));
    fail(path_, fmt::format("ffmpeg failed{}{}", said.empty() ? "" : ": ", said));
  }

 private:
  int wait() {
    int status = -1;
    while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
    }
    process_ = -1;
    return status;
  }

  fs::path path_;
  FileHandle frames_;
  FileHandle complaints_;
  pid_t process_ = -1;
};

}  // namespace

void require_ffmpeg() {
  const char* path = std::getenv("PATH");
  std::string_view folders = path == nullptr ? "" : path;
  while (!folders.empty()) {
    const std::string_view folder = folders.substr(0, folders.find(':'));
    folders.remove_prefix(std::min(folder.size() + 1, folders.size()));
    if (!folder.empty() && ::access((fs::path(folder) / "ffmpeg").c_str(), X_OK) == 0) return;
  }
  throw FileError(std::string(kNoProgram));
}

void write_mp4(const fs::path& path, std::span<const Image> frames, double seconds_per_frame,
               const std::string& description) {
  check_film(frames, seconds_per_frame, description, kMp4MaxSide);
  require_ffmpeg();
  const double seconds = std::max(seconds_per_frame, kShortestFrame);
  const Image& first = frames.front();
  const fs::path aside =
      path.parent_path() / fmt::format(".{}.{}.new", path.filename().string(), ::getpid());
  try {
    // Players want even sides and this kind of colours.
    Encoding encoding(path, {"ffmpeg",
                             "-nostdin",
                             "-loglevel",
                             "error",
                             "-y",
                             "-f",
                             "rawvideo",
                             "-pixel_format",
                             "rgb24",
                             "-video_size",
                             fmt::format("{}x{}", first.width, first.height),
                             "-framerate",
                             fmt::to_string(1 / seconds),
                             "-i",
                             "pipe:0",
                             "-vf",
                             "pad=ceil(iw/2)*2:ceil(ih/2)*2:color=white",
                             "-pix_fmt",
                             "yuv420p",
                             "-metadata",
                             "comment=" + description,
                             "-movflags",
                             "+faststart",
                             "-f",
                             "mp4",
                             "file:" + aside.string()});
    bool taken = true;
    for (const Image& frame : frames) taken = taken && encoding.send(frame.pixels);
    for (double more = kLastFrameSeconds - seconds; more > seconds / 2; more -= seconds) {
      taken = taken && encoding.send(frames.back().pixels);
    }
    encoding.finish();
    move_path(aside, path);
  } catch (...) {
    std::error_code ignored;
    fs::remove(aside, ignored);
    throw;
  }
}

std::string mp4_description(const fs::path& path) {
  try {
    InputFile file(path);
    std::string start(std::min(file.size(), kSearched), '\0');
    file.read(std::as_writable_bytes(std::span(start)));
    // A box with the comment holds one with its length, "data", eight bytes and the text.
    constexpr std::string_view kComment =
        "\xa9"
        "cmt";
    constexpr std::size_t kFront = 16;
    if (start.size() < 8 || start.compare(4, 4, "ftyp") != 0) return {};
    const std::size_t found = start.find(kComment);
    if (found == std::string::npos || found + 4 + kFront > start.size()) return {};
    const std::size_t box = found + kComment.size();
    std::size_t length = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      length = length << 8 | static_cast<std::uint8_t>(start[box + i]);
    }
    if (length < kFront || box + length > start.size()) return {};
    return start.substr(box + kFront, length - kFront);
  } catch (const Error&) {
    return {};
  }
}

}  // namespace aurora

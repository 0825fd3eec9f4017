#include "aurora/storage/files.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "aurora/core/errors.hpp"
#include "faults.hpp"

namespace fs = std::filesystem;

namespace aurora {
namespace {

class FilesTest : public ::testing::Test {
 protected:
  FilesTest() {
    std::string name = (fs::temp_directory_path() / "aurora_files_XXXXXX").string();
    dir_ = ::mkdtemp(name.data());
  }
  ~FilesTest() override { fs::remove_all(dir_); }

  fs::path dir_;
};

std::string content(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return in ? text.str() : "(unreadable)";
}

void put(const fs::path& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

std::set<std::string> names_in(const fs::path& directory) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(directory)) {
    names.insert(entry.path().filename().string());
  }
  return names;
}

using NameSet = std::set<std::string>;

/// The message of the error that `action` throws.
template <class E, class Action>
std::string message_of(Action action) {
  try {
    action();
  } catch (const E& error) {
    return error.what();
  }
  ADD_FAILURE() << "no exception of the expected type";
  return "";
}

#define EXPECT_CONTAINS(text, part) \
  EXPECT_NE(std::string(text).find(part), std::string::npos) << (text) << " lacks " << (part)

/// Caps the size of files that this process writes: the first write beyond is short, the next one
/// fails, as on a full disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    rlimit limit = before_;
    limit.rlim_cur = bytes;
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_;
  void (*handler_)(int);
};

// ---- Whole files ----

TEST_F(FilesTest, WritesAndReadsBackAnyBytes) {
  std::string text(700'000, '\0');
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i * 31 + i / 256);
  write_file(dir_ / "f", text);
  EXPECT_EQ(read_file(dir_ / "f", text.size()), text);
  write_file(dir_ / "f", std::string_view{});
  EXPECT_EQ(read_file(dir_ / "f", 0), "");
  EXPECT_EQ(names_in(dir_), NameSet{"f"});
}

TEST_F(FilesTest, PiecesOfAnySizeArriveInOrder) {
  std::string all;
  std::string checksum;
  write_file(dir_ / "f", [&](OutputFile& out) {
    for (std::size_t n : {1, 0, 5000, 300'000, 3, 262'144, 262'143, 262'145, 7}) {
      const std::string piece(n, static_cast<char>('a' + n % 26));
      out.write(piece);
      all += piece;
      EXPECT_EQ(out.bytes(), all.size());
    }
    checksum = out.checksum();
  });
  EXPECT_EQ(content(dir_ / "f"), all);
  Checksum whole;
  whole.update(std::as_bytes(std::span(all)));
  EXPECT_EQ(checksum, whole.text());
}

TEST_F(FilesTest, ShortAndInterruptedWritesAreContinued) {
  {
    Faults tiresome;
    tiresome.max_write = 7;
    tiresome.interrupt = true;
    const WithFaults with(tiresome);
    write_file(dir_ / "f", "a sentence that takes several calls to write\n");
    AppendFile table(dir_ / "t");
    table.append("a line that does as well\n");
    EXPECT_GT(faults.writes, 10);
  }
  EXPECT_EQ(content(dir_ / "f"), "a sentence that takes several calls to write\n");
  EXPECT_EQ(content(dir_ / "t"), "a line that does as well\n");
}

TEST_F(FilesTest, FullDeviceIsAnError) {
  const std::string message = message_of<FileError>([] { write_file("/dev/full", "text"); });
  EXPECT_EQ(message, "cannot write '/dev/full': No space left on device");
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
  write_file("/dev/null", "text");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(FilesTest, FullDiskLeavesTheOldFile) {
  put(dir_ / "f", "old");
  {
    const FileSizeLimit limit(100'000);
    const std::string message =
        message_of<FileError>([&] { write_file(dir_ / "f", std::string(1'000'000, 'x')); });
    EXPECT_CONTAINS(message, (dir_ / "f").string());
    EXPECT_CONTAINS(message, "File too large");
  }
  EXPECT_EQ(content(dir_ / "f"), "old");
  EXPECT_EQ(names_in(dir_), NameSet{"f"});
}

TEST_F(FilesTest, ContentThatThrowsLeavesTheOldFile) {
  put(dir_ / "f", "old");
  EXPECT_THROW(write_file(dir_ / "f",
                          [](OutputFile& out) {
                            out.write(std::string(400'000, 'x'));
                            throw DataError("no more");
                          }),
               DataError);
  EXPECT_EQ(content(dir_ / "f"), "old");
  EXPECT_EQ(names_in(dir_), NameSet{"f"});
}

TEST_F(FilesTest, ImpossiblePathsAreErrors) {
  put(dir_ / "f", "old");
  EXPECT_CONTAINS(message_of<FileError>([&] { write_file(dir_ / "f" / "g", "x"); }),
                  "Not a directory");
  EXPECT_CONTAINS(message_of<FileError>([&] { write_file(dir_ / "none" / "g", "x"); }),
                  "No such file or directory");
  EXPECT_CONTAINS(message_of<FileError>([&] { write_file(dir_, "x"); }), "Is a directory");
  EXPECT_CONTAINS(message_of<FileError>([&] { write_file(dir_ / std::string(300, 'n'), "x"); }),
                  "File name too long");
  EXPECT_THROW(AppendFile(dir_ / "f" / "g"), FileError);
  EXPECT_THROW(OutputFile(dir_ / "f"), FileError);
  EXPECT_EQ(content(dir_ / "f"), "old");
  EXPECT_EQ(names_in(dir_), NameSet{"f"});
}

TEST_F(FilesTest, LongNamesAndSymbolicLinks) {
  const std::string name(250, 'n');
  write_file(dir_ / name, "long");
  EXPECT_EQ(content(dir_ / name), "long");

  fs::create_directory(dir_ / "elsewhere");
  put(dir_ / "elsewhere" / "target", "old");
  fs::create_symlink("elsewhere/target", dir_ / "link");
  write_file(dir_ / "link", "new");
  EXPECT_TRUE(fs::is_symlink(dir_ / "link"));
  EXPECT_EQ(content(dir_ / "elsewhere" / "target"), "new");
}

TEST_F(FilesTest, AFileIsWholeAfterAnyFault) {
  for (const int error : {ENOSPC, EIO, EROFS}) {
    int total = 0;
    for (int n = 0; n == 0 || n < total; ++n) {
      put(dir_ / "f", "old");
      {
        Faults fault;
        fault.fail_at = n;
        fault.error = error;
        const WithFaults with(fault);
        EXPECT_THROW(write_file(dir_ / "f", "new"), FileError) << "call " << n;
      }
      // Once it has its name, only the sync of the directory (open, fsync) is left.
      EXPECT_EQ(content(dir_ / "f"), n < 4 ? "old" : "new") << "call " << n;
      EXPECT_EQ(names_in(dir_), NameSet{"f"}) << "call " << n;
      if (n == 0) {
        const WithFaults with({});
        write_file(dir_ / "f", "new");
        total = faults.calls;
      }
    }
    EXPECT_EQ(total, 6);  // open, write, fsync, rename; open, fsync of the directory
  }
}

// ---- Reading ----

TEST_F(FilesTest, ReadingChecksSizeAndKind) {
  put(dir_ / "f", "12345");
  EXPECT_CONTAINS(message_of<DataError>([&] { read_file(dir_ / "f", 4); }), "at most 4");
  EXPECT_CONTAINS(message_of<FileError>([&] { read_file(dir_ / "none", 4); }),
                  "No such file or directory");
  EXPECT_CONTAINS(message_of<FileError>([&] { read_file(dir_, 4); }), "regular file");
  ASSERT_EQ(::mkfifo((dir_ / "pipe").c_str(), 0666), 0);
  EXPECT_CONTAINS(message_of<FileError>([&] { read_file(dir_ / "pipe", 4); }), "regular file");
}

TEST_F(FilesTest, AFileThatShrinksWhileItIsReadIsAnError) {
  put(dir_ / "f", "12345");
  InputFile file(dir_ / "f");
  EXPECT_EQ(file.size(), 5u);
  std::array<std::byte, 5> out;
  file.read(std::span(out).first(2));
  EXPECT_EQ(file.left(), 3u);
  fs::resize_file(dir_ / "f", 4);
  EXPECT_THROW(file.read(std::span(out).first(3)), DataError);
}

TEST_F(FilesTest, TheChecksumIsXxh3) {
  // Value of the empty input in the reference implementation.
  EXPECT_EQ(Checksum().text(), "2d06800538d394c2");
  put(dir_ / "f", "12345");
  InputFile file(dir_ / "f");
  std::array<std::byte, 5> out;
  file.read(out);
  Checksum pieces;
  pieces.update(std::span(out).first(2));
  pieces.update(std::span(out).last(3));
  EXPECT_EQ(file.checksum(), pieces.text());
  EXPECT_NE(file.checksum(), Checksum().text());
}

// ---- Tables ----

TEST_F(FilesTest, LinesAreInTheFileAtOnce) {
  AppendFile table(dir_ / "t");
  table.append("a,b\n");
  EXPECT_EQ(content(dir_ / "t"), "a,b\n");
  table.append("1,2\n");
  EXPECT_EQ(content(dir_ / "t"), "a,b\n1,2\n");
  EXPECT_EQ(table.size(), 8u);
  table.sync();

  AppendFile again(dir_ / "t");
  EXPECT_EQ(again.size(), 8u);
  again.append("3,4\n");
  EXPECT_EQ(content(dir_ / "t"), "a,b\n1,2\n3,4\n");
}

TEST_F(FilesTest, FullDiskLeavesNoHalfLine) {
  AppendFile table(dir_ / "t");
  table.append("first\n");
  {
    const FileSizeLimit limit(10);
    EXPECT_CONTAINS(message_of<FileError>([&] { table.append("second line\n"); }),
                    (dir_ / "t").string());
    EXPECT_EQ(content(dir_ / "t"), "first\n");
  }
  table.append("third\n");
  EXPECT_EQ(content(dir_ / "t"), "first\nthird\n");

  faults = {.on = true, .fail_at = 0, .error = ENOSPC};
  EXPECT_CONTAINS(message_of<FileError>([&] { table.append("x\n"); }), "No space left on device");
  faults = {};
  EXPECT_EQ(content(dir_ / "t"), "first\nthird\n");
}

TEST_F(FilesTest, ATableIsARegularFileOfItsOwn) {
  std::ofstream(dir_ / "elsewhere") << "precious\n";
  fs::create_symlink(dir_ / "elsewhere", dir_ / "link");
  ASSERT_EQ(mkfifo((dir_ / "pipe").c_str(), 0600), 0);
  for (const fs::path& path : {dir_ / "link", dir_ / "pipe", fs::path("/dev/full")}) {
    EXPECT_CONTAINS(message_of<FileError>([&] { AppendFile table(path); }), path.string());
  }
  EXPECT_EQ(content(dir_ / "elsewhere"), "precious\n");
}

TEST_F(FilesTest, InADirectoryOfOursALinkIsReplacedAndNotFollowed) {
  std::ofstream(dir_ / "elsewhere") << "precious\n";
  fs::create_symlink(dir_ / "elsewhere", dir_ / "link");
  write_file(dir_ / "link", "new", Links::replace);
  EXPECT_EQ(content(dir_ / "link"), "new");
  EXPECT_FALSE(fs::is_symlink(dir_ / "link"));
  EXPECT_EQ(content(dir_ / "elsewhere"), "precious\n");
  ASSERT_EQ(mkfifo((dir_ / "pipe").c_str(), 0600), 0);
  write_file(dir_ / "pipe", "new", Links::replace);
  EXPECT_EQ(content(dir_ / "pipe"), "new");
}

// ---- Directories ----

void fill(const fs::path& directory, const std::string& text) {
  write_directory(directory, [&](const fs::path& fresh) {
    for (const char* name : {"a", "b"}) {
      OutputFile out(fresh / name);
      out.write(text);
      out.close();
    }
    make_directories(fresh / "sub");
    OutputFile out(fresh / "sub" / "c");
    out.write(text);
    out.close();
  });
}

/// The text that fill() wrote, if the directory is whole.
std::string filled(const fs::path& directory) {
  const std::string text = content(directory / "a");
  const bool whole = names_in(directory) == NameSet{"a", "b", "sub"} &&
                     content(directory / "b") == text && content(directory / "sub" / "c") == text;
  return whole ? text : "(broken)";
}

TEST_F(FilesTest, DirectoriesAreReplaced) {
  for (const bool no_exchange : {false, true}) {
    Faults lacking;
    lacking.no_exchange = no_exchange;
    const WithFaults with(lacking);
    const fs::path path = dir_ / "d";
    fill(path, "one");
    EXPECT_EQ(filled(path), "one");
    fill(path.string() + "/", "two");
    EXPECT_EQ(filled(path), "two");
    EXPECT_EQ(names_in(dir_), NameSet{"d"});
    fs::remove_all(path);
  }
}

TEST_F(FilesTest, ADirectoryIsWholeAfterAnyFault) {
  for (const bool no_exchange : {false, true}) {
    Faults fault;
    fault.no_exchange = no_exchange;
    for (bool fired = true; fired; ++fault.fail_at) {
      fs::remove_all(dir_ / "d");
      fill(dir_ / "d", "old");
      fault.error = EIO;
      try {
        const WithFaults with(fault);
        fill(dir_ / "d", "new");
        fired = fault.fail_at < 0;
      } catch (const FileError&) {
        const std::string text = filled(dir_ / "d");
        EXPECT_TRUE(text == "old" || text == "new") << text << " at call " << fault.fail_at;
      }
      EXPECT_EQ(names_in(dir_), NameSet{"d"}) << "call " << fault.fail_at;
    }
    EXPECT_GT(fault.fail_at, 15);
    EXPECT_EQ(filled(dir_ / "d"), "new");
  }
}

TEST_F(FilesTest, ADirectoryIsWholeAfterAnyCrash) {
  for (const bool no_exchange : {false, true}) {
    bool used_aside = false;
    Faults fault;
    fault.no_exchange = no_exchange;
    fault.fail_at = 0;
    for (bool died = true; died; ++fault.fail_at) {
      fs::remove_all(dir_ / "d");
      fill(dir_ / "d", "old");
      const pid_t child = ::fork();
      if (child == 0) {
        const WithFaults with(fault);
        fill(dir_ / "d", "new");
        ::_exit(0);
      }
      int status = 0;
      ASSERT_EQ(::waitpid(child, &status, 0), child);
      died = WIFEXITED(status) && WEXITSTATUS(status) == 77;
      const fs::path whole = whole_directory(dir_ / "d");
      used_aside = used_aside || whole != dir_ / "d";
      const std::string text = filled(whole);
      EXPECT_TRUE(text == "old" || text == "new") << text << " at call " << fault.fail_at;
      EXPECT_TRUE(died || text == "new");

      // The next write clears up.
      fill(dir_ / "d", "newer");
      EXPECT_EQ(filled(dir_ / "d"), "newer");
      EXPECT_EQ(names_in(dir_), NameSet{"d"});
    }
    EXPECT_GT(fault.fail_at, 15);
    EXPECT_EQ(used_aside, no_exchange);
  }
}

TEST_F(FilesTest, LeftoversOfACrashDoNotMatter) {
  fs::create_directory(dir_ / ".d.new");
  put(dir_ / ".d.new" / "half", "x");
  fs::create_directory(dir_ / ".d.old");
  put(dir_ / ".d.old" / "done", "x");
  put(dir_ / ".f.1.new", "half");
  fill(dir_ / "d", "text");
  write_file(dir_ / "f", "text");
  EXPECT_EQ(filled(dir_ / "d"), "text");
  EXPECT_EQ(whole_directory(dir_ / "d"), dir_ / "d");
}

TEST_F(FilesTest, FullDiskLeavesTheOldDirectory) {
  fill(dir_ / "d", "old");
  {
    const FileSizeLimit limit(1000);
    EXPECT_THROW(fill(dir_ / "d", std::string(5000, 'x')), FileError);
  }
  EXPECT_EQ(filled(dir_ / "d"), "old");
  EXPECT_EQ(names_in(dir_), NameSet{"d"});
}

TEST_F(FilesTest, FreshDirectoriesAreNewOrEmpty) {
  create_fresh_directory(dir_ / "a" / "b", "choose another");
  EXPECT_TRUE(fs::is_empty(dir_ / "a" / "b"));
  create_fresh_directory(dir_ / "a" / "b" / "", "choose another");

  put(dir_ / "a" / "b" / "f", "x");
  const std::string taken = (dir_ / "a" / "b").string();
  EXPECT_EQ(message_of<FileError>([&] { create_fresh_directory(taken, "choose another"); }),
            "'" + taken + "' exists and is not empty; choose another");
  EXPECT_EQ(message_of<FileError>([&] { create_fresh_directory(taken + "/f", "choose another"); }),
            "'" + taken + "/f' exists and is not a directory; choose another");
  EXPECT_EQ(
      message_of<FileError>([&] { create_fresh_directory(taken + "/f/g", "choose another"); }),
      "cannot create directory '" + taken + "/f/g': Not a directory; choose another");
  EXPECT_EQ(content(dir_ / "a" / "b" / "f"), "x");
}

TEST_F(FilesTest, TheOldDirectoryCanBeKeptAsThePreviousOne) {
  const auto write = [&](const std::string& text) {
    write_directory(
        dir_ / "d",
        [&](const fs::path& fresh) {
          OutputFile out(fresh / "f");
          out.write(text);
          out.close();
        },
        dir_ / "d.previous");
  };
  for (const bool no_exchange : {false, true}) {
    Faults lacking;
    lacking.no_exchange = no_exchange;
    const WithFaults with(lacking);
    write("one");
    EXPECT_FALSE(fs::exists(dir_ / "d.previous"));
    write("two");
    write("three");
    EXPECT_EQ(content(dir_ / "d" / "f"), "three");
    EXPECT_EQ(content(dir_ / "d.previous" / "f"), "two");
    EXPECT_EQ(names_in(dir_), (NameSet{"d", "d.previous"}));
    remove_path(dir_ / "d.previous");
    remove_path(dir_ / "d.previous");
    remove_path(dir_ / "d");
  }
  write("four");
  put(dir_ / "in the way", "x");
  move_path(dir_ / "d", dir_ / "in the way");
  EXPECT_EQ(content(dir_ / "in the way" / "f"), "four");
  EXPECT_THROW(move_path(dir_ / "d", dir_ / "e"), FileError);
}

// ---- Locks ----

/// As a lock says whose it is.
std::string process_on_this_machine(pid_t process) {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  return std::to_string(process) + " on " + host.data();
}

TEST_F(FilesTest, ALockKeepsOthersOutUntilItIsGone) {
  {
    const FileLock lock(dir_ / "lock", dir_);
    const std::string ours = process_on_this_machine(::getpid());
    EXPECT_EQ(content(dir_ / "lock"), ours);
    EXPECT_EQ(FileLock::holder(dir_ / "lock"), "process " + ours);
    const std::string message = message_of<InUse>([&] { FileLock(dir_ / "lock", "the thing"); });
    EXPECT_CONTAINS(message, "'the thing' is in use by process " + ours + ";");
    EXPECT_TRUE(fs::exists(dir_ / "lock"));
  }
  EXPECT_EQ(FileLock::holder(dir_ / "lock"), "another process");
  EXPECT_EQ(names_in(dir_), NameSet{});
  EXPECT_THROW(FileLock(dir_ / "none" / "lock", dir_), FileError);
}

TEST_F(FilesTest, TheLockOfADeadProcessIsTakenOver) {
  const pid_t child = ::fork();
  if (child == 0) {
    const FileLock lock(dir_ / "lock", dir_);
    ::_exit(0);  // nothing is cleared up
  }
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  ASSERT_EQ(content(dir_ / "lock"), process_on_this_machine(child));
  const FileLock lock(dir_ / "lock", dir_);
  EXPECT_EQ(content(dir_ / "lock"), process_on_this_machine(::getpid()));
}

TEST_F(FilesTest, ParentsMadeInVainAreTakenBack) {
  EXPECT_THROW(make_directories(dir_ / "x" / "y" / std::string(300, 'n')), FileError);
  EXPECT_EQ(names_in(dir_), NameSet{});
  make_directories(dir_ / "x" / "y" / "z");
  make_directories(dir_ / "x" / "y" / "z");
  EXPECT_TRUE(fs::is_directory(dir_ / "x" / "y" / "z"));
}

}  // namespace
}  // namespace aurora

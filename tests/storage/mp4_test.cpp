#include "aurora/storage/mp4.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <vector>

#include "aurora/core/errors.hpp"

namespace aurora {
namespace {

namespace fs = std::filesystem;

/// A PATH with an ffmpeg of the test's own, or with none.
class Mp4Test : public testing::Test {
 protected:
  Mp4Test() : path_before_(std::getenv("PATH")) {
    fs::create_directories(dir_ / "bin");
    fs::create_directories(dir_ / "out");
  }
  ~Mp4Test() override {
    setenv("PATH", path_before_.c_str(), 1);
    fs::remove_all(dir_);
  }

  void have(const std::string& script) {
    std::ofstream(dir_ / "bin" / "ffmpeg") << "#!/bin/sh\n" << script;
    fs::permissions(dir_ / "bin" / "ffmpeg", fs::perms::owner_all);
    setenv("PATH", ((dir_ / "bin").string() + ":/usr/bin:/bin").c_str(), 1);
  }
  std::string message() const {
    try {
      write_mp4(film_, frames_, 0.25, "what it is");
    } catch (const FileError& error) {
      return error.what();
    }
    return "";
  }
  static std::string content(const fs::path& path) {
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  fs::path dir_ = fs::temp_directory_path() / ("aurora-mp4-" + std::to_string(getpid()));
  fs::path film_ = dir_ / "out" / "film.mp4";
  std::vector<Image> frames_ = {Image(300, 200), Image(300, 200, kBlack)};
  std::string path_before_;
};

TEST_F(Mp4Test, WithoutFfmpegItSaysSo) {
  setenv("PATH", (dir_ / "bin").c_str(), 1);
  EXPECT_NE(message().find("need the program ffmpeg, and it is not on the PATH"),
            std::string::npos);
  EXPECT_THROW(require_ffmpeg(), FileError);
  EXPECT_TRUE(fs::is_empty(dir_ / "out"));
}

TEST_F(Mp4Test, FfmpegGetsEveryFrameAndTheLastForASecond) {
  have("for last; do :; done; echo \"$@\" > '" + (dir_ / "words").string() +
       "'; cat > \"${last#file:}\"");
  EXPECT_EQ(message(), "");
  const std::string bytes = content(film_);
  EXPECT_EQ(bytes.size(), 5 * frames_[0].pixels.size());  // two, and the second for 3 x 0.25 s more
  EXPECT_TRUE(bytes.starts_with(std::string(frames_[0].pixels.begin(), frames_[0].pixels.end())));
  EXPECT_TRUE(bytes.ends_with(std::string(frames_[0].pixels.size(), '\0')));
  const std::string words = content(dir_ / "words");
  EXPECT_NE(words.find("-video_size 300x200 -framerate 4 "), std::string::npos) << words;
  EXPECT_NE(words.find("comment=what it is"), std::string::npos) << words;
}

TEST_F(Mp4Test, AnFfmpegThatFailsLeavesNothing) {
  have("echo 'Unknown encoder' >&2; exit 1");  // does not read, so that the write fails, too
  EXPECT_NE(message().find("ffmpeg failed: Unknown encoder"), std::string::npos) << message();
  have("for last; do :; done; echo half > \"${last#file:}\"; cat > /dev/null; kill -9 $$");
  EXPECT_NE(message().find("ffmpeg failed"), std::string::npos) << message();
  EXPECT_TRUE(fs::is_empty(dir_ / "out"));
}

TEST_F(Mp4Test, TheCommentIsFound) {
  const auto write = [&](const std::string& bytes) {
    std::ofstream(film_, std::ios::binary) << bytes;
  };
  using namespace std::string_literals;
  const std::string good = "\0\0\0\x18"s + "ftypisom" + "\0\0\0\x22\xa9"s + "cmt" + "\0\0\0\x1a"s +
                           "data" + "\0\0\0\x01\0\0\0\0"s + "what it is" + "mdat";
  write(good);
  EXPECT_EQ(mp4_description(film_), "what it is");
  for (std::size_t length = 0; length < good.size() - 4; ++length) {
    write(good.substr(0, length));
    EXPECT_EQ(mp4_description(film_), "") << length;
  }
  EXPECT_EQ(mp4_description(dir_ / "none"), "");
}

// Where there is a real one, it knows what we want of it.
TEST_F(Mp4Test, ARealFfmpegTakesIt) {
  try {
    require_ffmpeg();
  } catch (const FileError&) {
    GTEST_SKIP() << "there is no ffmpeg here";
  }
  frames_[1] = frames_[0] = Image(301, 201);  // players want even sides
  ASSERT_EQ(message(), "");
  EXPECT_EQ(mp4_description(film_), "what it is");
}

}  // namespace
}  // namespace aurora

#include "aurora/storage/paths.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <functional>

#include "aurora/core/errors.hpp"

namespace aurora {
namespace {

namespace fs = std::filesystem;

/// Root may read everything: then somebody else looks.
class AsNobody {
 public:
  AsNobody() : was_root_(geteuid() == 0) {
    if (was_root_) {
      EXPECT_EQ(seteuid(65534), 0);
    }
  }
  ~AsNobody() {
    if (was_root_) {
      EXPECT_EQ(seteuid(0), 0);
    }
  }
  AsNobody(const AsNobody&) = delete;
  AsNobody& operator=(const AsNobody&) = delete;

 private:
  bool was_root_;
};

class Paths : public testing::Test {
 protected:
  Paths() {
    fs::create_directories(dir_ / "closed" / "below");
    std::ofstream(dir_ / "file") << "x";
  }
  ~Paths() override {
    fs::permissions(dir_ / "closed", fs::perms::owner_all);
    fs::remove_all(dir_);
  }
  static std::string message(const std::function<void()>& act) {
    try {
      act();
    } catch (const FileError& error) {
      return error.what();
    }
    return "nothing was thrown";
  }

  fs::path dir_ = fs::temp_directory_path() / ("aurora-paths-" + std::to_string(getpid()));
};

TEST_F(Paths, SayWhatIsThere) {
  EXPECT_TRUE(path_exists(dir_ / "file"));
  EXPECT_TRUE(path_exists(dir_));
  EXPECT_FALSE(path_exists(dir_ / "none"));
  EXPECT_FALSE(path_exists(dir_ / "file" / "below"));
  EXPECT_TRUE(directory_exists(dir_));
  EXPECT_FALSE(directory_exists(dir_ / "file"));
  EXPECT_FALSE(directory_exists(dir_ / "none"));
  EXPECT_EQ(entries_of(dir_), (std::vector<fs::path>{dir_ / "closed", dir_ / "file"}));
  EXPECT_TRUE(entries_of(dir_ / "none").empty());
}

TEST_F(Paths, WhatMayNotBeSeenIsAnErrorOfOurs) {
  fs::permissions(dir_ / "closed", fs::perms::none);
  const AsNobody nobody;
  const std::string expected =
      "cannot read '" + (dir_ / "closed" / "below").string() + "': Permission denied";
  EXPECT_EQ(message([&] { path_exists(dir_ / "closed" / "below"); }), expected);
  EXPECT_EQ(message([&] { directory_exists(dir_ / "closed" / "below"); }), expected);
  EXPECT_EQ(message([&] { entries_of(dir_ / "closed"); }),
            "cannot read '" + (dir_ / "closed").string() + "': Permission denied");
  EXPECT_EQ(message([&] { entries_of(dir_ / "file"); }),
            "cannot read '" + (dir_ / "file").string() + "': Not a directory");
}

}  // namespace
}  // namespace aurora

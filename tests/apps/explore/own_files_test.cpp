#include "apps/aurora/explore/own_files.hpp"

#include <sys/stat.h>

#include "aurora/core/errors.hpp"
#include "explore_fixture.hpp"

namespace aurora::explore {
namespace {

namespace fs = std::filesystem;

class OwnFiles : public ExploreFixture {
 protected:
  OwnFiles() {
    fs::create_directories(run() / "container");
    write(run() / "container" / "ids.npy", "12345");
    write(run() / "container" / "sensory.npy", std::string(1000, 'x'));
    write(run() / "run.json", "{}");
    write(root_ / "secret", "secret");
  }
  fs::path run() const { return root_ / "run"; }
  void check(const char* name, std::uint64_t limit = 100) const {
    check_own(run(), name, limit, "sensory.npy");
  }
};

TEST_F(OwnFiles, AreFilesAndDirectories) {
  EXPECT_NO_THROW(check("run.json"));
  EXPECT_NO_THROW(check("container"));
  EXPECT_NO_THROW(check("container/ids.npy"));
  EXPECT_NO_THROW(check("nothing"));
  EXPECT_NO_THROW(check("nothing/at/all"));
}

TEST_F(OwnFiles, AreNoLinks) {
  fs::create_symlink(root_ / "secret", run() / "link");
  EXPECT_THROW(check("link"), FileError);
  fs::create_symlink("nowhere", run() / "container" / "fitness.npy");
  EXPECT_THROW(check("container"), FileError);
  fs::remove_all(run() / "container");
  fs::create_directory(root_ / "elsewhere");
  write(root_ / "elsewhere" / "ids.npy", "1");
  fs::create_directory_symlink(root_ / "elsewhere", run() / "container");
  EXPECT_THROW(check("container"), FileError);
  EXPECT_THROW(check("container/ids.npy"), FileError);
}

TEST_F(OwnFiles, AreNoPipesAndNoDevices) {
  ASSERT_EQ(mkfifo((run() / "pipe").c_str(), 0600), 0);
  EXPECT_THROW(check("pipe"), FileError);
  EXPECT_THROW(open_own_table(run() / "pipe"), FileError);
}

TEST_F(OwnFiles, AreNotTooLarge) {
  EXPECT_THROW(check("container", 4), DataError);
  EXPECT_NO_THROW(check("container", 5));
  fs::resize_file(run() / "container" / "ids.npy", std::uintmax_t{1} << 40);  // takes no room
  EXPECT_THROW(check("container", std::uint64_t{1} << 32), DataError);
}

TEST_F(OwnFiles, AreNotEndlesslyDeep) {
  fs::path deep = run() / "container";
  for (int i = 0; i < 10; ++i) deep /= "x";
  fs::create_directories(deep);
  EXPECT_THROW(check("container"), FileError);
}

TEST_F(OwnFiles, HaveAStampThatChangesWithThem) {
  const std::string before = stamp_of_file(run() / "run.json");
  EXPECT_EQ(stamp_of_file(run() / "run.json"), before);
  write(run() / "run.json", "{ }");
  EXPECT_NE(stamp_of_file(run() / "run.json"), before);
  EXPECT_EQ(stamp_of_file(run() / "nothing"), "");
}

}  // namespace
}  // namespace aurora::explore

// SPDX-License-Identifier: MIT
#include "run/run_folder.h"

#include <filesystem>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace flightdeck::run {
namespace {

namespace fs = std::filesystem;

class RunFolderTest : public testing::Test {
 protected:
  RunFolderTest() {
    folder_ = (fs::temp_directory_path() / "flightdeck-cli-XXXXXX").string();
    if (::mkdtemp(folder_.data()) == nullptr) std::abort();
  }
  ~RunFolderTest() override { fs::remove_all(folder_); }

  std::string folder_;
};

TEST_F(RunFolderTest, IsTheStemOrTheNextThatIsFree) {
  const std::string stem = folder_ + "/runs/first";
  EXPECT_EQ(make_own_folder("run", stem), stem);
  EXPECT_EQ(make_own_folder("run", stem), stem + "-2");
  EXPECT_EQ(make_own_folder("run", stem), stem + "-3");
  EXPECT_TRUE(fs::is_directory(stem + "-3"));
}

TEST_F(RunFolderTest, IsAnotherForEachOfFortyProcesses) {
  constexpr int kProcesses = 40;
  for (int k = 0; k < kProcesses; ++k) {
    if (::fork() != 0) continue;
    // Fails if another has been here.
    const std::string own = make_own_folder("run", folder_ + "/runs/run");
    ::_exit(fs::create_directory(own + "/mine") ? 0 : 1);
  }
  for (int k = 0; k < kProcesses; ++k) {
    int status = 0;
    ASSERT_GT(::wait(&status), 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_ + "/runs"), fs::directory_iterator()),
            kProcesses);
}

TEST_F(RunFolderTest, IsRefusedWithTheReasonWhereItCannotBeMade) {
  try {
    make_own_folder("run", "/proc/self/runs/first");
    FAIL();
  } catch (const std::exception& error) {
    EXPECT_NE(std::string(error.what()).find("choose another folder"), std::string::npos);
  }
}

}  // namespace
}  // namespace flightdeck::run

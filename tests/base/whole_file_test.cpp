// SPDX-License-Identifier: MIT
// Files that are whole or not there, on a system that fails in every way it can.
#include "base/whole_file.h"

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "faults/faulty_system.h"

namespace flightdeck {
namespace {

namespace fs = std::filesystem;

class WholeFileTest : public testing::Test {
 protected:
  WholeFileTest() {
    folder_ = (fs::temp_directory_path() / "flightdeck-base-XXXXXX").string();
    if (::mkdtemp(folder_.data()) == nullptr) std::abort();
    path_ = folder_ + "/file";
  }
  ~WholeFileTest() override {
    flightdeck_set_faults(nullptr);
    fs::remove_all(folder_);
  }

  std::string content() const {
    std::ostringstream text;
    text << std::ifstream(path_, std::ios::binary).rdbuf();
    return text.str();
  }

  std::set<std::string> names() const {
    std::set<std::string> all;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      all.insert(entry.path().filename().string());
    }
    return all;
  }

  void set_faults(const std::string& text) const {
    flightdeck_set_faults(("under=" + folder_ + " " + text).c_str());
  }

  // What the attempt to replace the file by `text` says; empty: it succeeded.
  std::string problem_of_replacing(const std::string& text) const {
    try {
      replace_file(path_, text);
      return "";
    } catch (const std::runtime_error& error) {
      return error.what();
    }
  }

  void expect_old_file_and_nothing_else(const std::string& old) const {
    flightdeck_set_faults(nullptr);
    EXPECT_EQ(content(), old);
    EXPECT_EQ(names(), (old.empty() ? std::set<std::string>{} : std::set<std::string>{"file"}));
  }

  std::string folder_, path_;
};

TEST_F(WholeFileTest, ReplacesAFileAndLeavesNothingBeside) {
  EXPECT_EQ(problem_of_replacing("one"), "");
  EXPECT_EQ(problem_of_replacing("two"), "");
  expect_old_file_and_nothing_else("two");
}

TEST_F(WholeFileTest, MakesMissingFolders) {
  path_ = folder_ + "/a/b/file";
  EXPECT_EQ(problem_of_replacing("one"), "");
  EXPECT_EQ(content(), "one");
}

TEST_F(WholeFileTest, KeepsTheOldFileWhenTheDiskIsFullAtAnyByte) {
  // More than the buffer, so that some of it is on the disk when the rest does not fit.
  const std::string text(200'000, 'x');
  for (const std::string& old : {std::string(), std::string("old")}) {
    if (!old.empty()) {
      ASSERT_EQ(problem_of_replacing(old), "");
    }
    for (size_t room = 0; room < text.size(); room += room < 8 ? 1 : 7919) {
      set_faults("full=" + std::to_string(room));
      const std::string problem = problem_of_replacing(text);
      EXPECT_NE(problem.find("No space left on device; make room"), std::string::npos) << problem;
      expect_old_file_and_nothing_else(old);
    }
    set_faults("full=" + std::to_string(text.size()));
    EXPECT_EQ(problem_of_replacing(text), "");
    flightdeck_set_faults(nullptr);
    fs::remove(path_);
  }
}

TEST_F(WholeFileTest, KeepsTheOldFileWhenAnyCallFails) {
  ASSERT_EQ(problem_of_replacing("old"), "");
  for (const std::string call : {"open", "write", "sync", "close", "rename"}) {
    set_faults(call + "@1=EIO");
    const std::string problem = problem_of_replacing("new");
    EXPECT_NE(problem.find("cannot write " + path_), std::string::npos) << call << problem;
    EXPECT_NE(problem.find("Input/output error; its disk fails"), std::string::npos) << problem;
    expect_old_file_and_nothing_else("old");
  }
}

TEST_F(WholeFileTest, TellsThatTheFolderIsNotOnTheDisk) {
  ASSERT_EQ(problem_of_replacing("old"), "");
  set_faults("sync@2=EIO");  // the first is the file's
  EXPECT_NE(problem_of_replacing("new"), "");
  expect_old_file_and_nothing_else("new");
}

TEST_F(WholeFileTest, SaysThatAFolderCannotBeWritten) {
  set_faults("readonly");
  const std::string problem = problem_of_replacing("new");
  EXPECT_NE(problem.find("make its folder writable"), std::string::npos) << problem;
  path_ = folder_ + "/a/file";
  EXPECT_NE(problem_of_replacing("new").find("cannot write " + path_), std::string::npos);
}

TEST_F(WholeFileTest, IsNotThereUntilItIsKept) {
  {
    WholeFile file(path_);
    file.write("text");
    file.finish();
    EXPECT_FALSE(fs::exists(path_));
  }
  EXPECT_TRUE(names().empty());
}

TEST_F(WholeFileTest, IsOldOrNewWhereverItsWriterIsKilledAndTheNextOneCleansUp) {
  for (const std::string call : {"write", "sync", "close", "rename", "sync@2", "none"}) {
    ASSERT_EQ(problem_of_replacing("old"), "");
    const pid_t child = ::fork();
    if (child == 0) {
      const std::string at = call.find('@') == std::string::npos ? call + "@1" : call;
      if (call != "none") set_faults(at + "=kill");
      problem_of_replacing("new");
      ::_exit(0);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(WIFSIGNALED(status) != 0, call != "none");
    EXPECT_EQ(content(), call == "sync@2" || call == "none" ? "new" : "old") << call;
    EXPECT_EQ(problem_of_replacing("next"), "");
    expect_old_file_and_nothing_else("next");
  }
}

TEST_F(WholeFileTest, LeavesFilesOfOthersAlone) {
  const std::set<std::string> others = {"file.1-2.new",
                                        "file.new",
                                        "file.flightdeck-1-2.new.txt",
                                        "file.flightdeck-x.new",
                                        "other.flightdeck-1-2.new"};
  for (const std::string& name : others) std::ofstream(folder_ + "/" + name) << "mine";
  std::ofstream(folder_ + "/file.flightdeck-1-2.new") << "left behind";
  EXPECT_EQ(problem_of_replacing("new"), "");
  std::set<std::string> left = others;
  left.insert("file");
  EXPECT_EQ(names(), left);
}

TEST_F(WholeFileTest, LeavesTheFilesOfLivingWritersAlone) {
  WholeFile first(path_), second(path_);
  first.write("first");
  first.finish();
  WholeFile third(path_);
  second.write("second");
  second.finish();
  first.keep();
  EXPECT_EQ(content(), "first");
  second.keep();
  EXPECT_EQ(content(), "second");
}

TEST_F(WholeFileTest, FollowsLinksThatAPersonNamesAndKeepsTheMode) {
  ASSERT_EQ(problem_of_replacing("old"), "");
  ASSERT_EQ(::chmod(path_.c_str(), 0640), 0);
  fs::create_symlink("file", folder_ + "/link");
  fs::create_symlink(folder_ + "/link", folder_ + "/second");
  replace_file(folder_ + "/second", "new", Place::kGiven);
  EXPECT_TRUE(fs::is_symlink(folder_ + "/second"));
  EXPECT_EQ(content(), "new");
  EXPECT_EQ(int(fs::status(path_).permissions()), 0640);
  fs::create_symlink("there", folder_ + "/loose");
  replace_file(folder_ + "/loose", "new", Place::kGiven);
  EXPECT_TRUE(fs::is_regular_file(folder_ + "/there"));
}

TEST_F(WholeFileTest, ReplacesLinksAndPipesInFoldersOfOurs) {
  const std::string other = folder_ + "/other";
  replace_file(other, "mine");
  fs::create_symlink(other, path_);
  EXPECT_EQ(problem_of_replacing("new"), "");
  EXPECT_FALSE(fs::is_symlink(path_));
  path_ = other;
  EXPECT_EQ(content(), "mine");
  path_ = folder_ + "/pipe";
  ASSERT_EQ(::mkfifo(path_.c_str(), 0666), 0);
  EXPECT_EQ(problem_of_replacing("new"), "");
  EXPECT_EQ(content(), "new");
}

TEST_F(WholeFileTest, WritesToDevicesThatAPersonNames) {
  replace_file("/dev/null", "x", Place::kGiven);
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  WholeFile full("/dev/full", Place::kGiven);
  full.write("x");
  EXPECT_THROW(full.finish(), std::runtime_error);
}

TEST_F(WholeFileTest, IsNotWrittenInThePlaceOfAFolder) {
  fs::create_directories(path_);
  EXPECT_NE(problem_of_replacing("new"), "");
  EXPECT_TRUE(fs::is_directory(path_));
  EXPECT_EQ(names().size(), 1u);
}

}  // namespace
}  // namespace flightdeck

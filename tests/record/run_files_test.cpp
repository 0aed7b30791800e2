// SPDX-License-Identifier: MIT
#include "record/run_files.h"

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <unistd.h>

#include <gtest/gtest.h>

#include "flightdeck/record.h"
#include "record/folder.h"

namespace flightdeck::record {
namespace {

namespace fs = std::filesystem;

class RunFilesTest : public testing::Test {
 protected:
  RunFilesTest() {
    above_ = (fs::temp_directory_path() / "flightdeck-files-XXXXXX").string();
    if (::mkdtemp(above_.data()) == nullptr) std::abort();
    run_ = above_ + "/first";
    Recorder recorder(run_);
    recorder.begin({});
    recorder.finish(Ending::kFinished);
  }
  ~RunFilesTest() override { fs::remove_all(above_); }

  void put(const std::string& name) const {
    fs::create_directories(fs::path(run_ + "/" + name).parent_path());
    std::ofstream(run_ + "/" + name) << "text";
  }
  static std::string refusal(const std::function<void()>& action) {
    try {
      action();
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  }

  std::string above_, run_;
};

TEST_F(RunFilesTest, AreAllDeletedWithTheirFolder) {
  for (const char* name : {"outcome.json",
                           "checkpoint.pt",
                           "labels.txt",
                           "report.html",
                           "log.txt",
                           "run.sqlite-wal",
                           "journal.3",
                           "outcome.json.flightdeck-1-2.new",
                           "models/step_00000010.pt",
                           "tensorboard/events.out.tfevents.1.host.flightdeck"}) {
    put(name);
  }
  const RunContents contents = contents_of_run(run_);
  EXPECT_EQ(contents.foreign_count, 0);
  EXPECT_EQ(contents.files, 11);
  EXPECT_TRUE(contents.has_checkpoint);
  EXPECT_GT(contents.bytes, 10 * 4);
  delete_run(run_ + "/");
  EXPECT_TRUE(fs::is_empty(above_));
}

TEST_F(RunFilesTest, AreNotDeletedBesideForeignFilesUnlessForced) {
  put("thesis.tex");
  put("tensorboard/thesis.tex");
  const std::string why = refusal([this] { delete_run(run_); });
  EXPECT_NE(why.find("2 files that are not the run's"), std::string::npos) << why;
  EXPECT_NE(why.find("tensorboard/thesis.tex"), std::string::npos) << why;
  EXPECT_TRUE(RunReader::is_run(run_));
  EXPECT_FALSE(fs::exists(run_ + "/lock"));
  delete_run(run_, Foreign::kDelete);
  EXPECT_TRUE(fs::is_empty(above_));
}

TEST_F(RunFilesTest, DoNotLeadOutOfTheirFolder) {
  fs::create_directory(above_ + "/other");
  std::ofstream(above_ + "/other/thesis.tex") << "text";
  fs::create_symlink(above_ + "/other", run_ + "/tensorboard");
  fs::create_symlink(above_ + "/other/thesis.tex", run_ + "/outcome.json");
  delete_run(run_, Foreign::kDelete);
  EXPECT_FALSE(fs::exists(run_));
  EXPECT_TRUE(fs::exists(above_ + "/other/thesis.tex"));
}

TEST_F(RunFilesTest, AreNotReachedThroughALink) {
  const std::string link = above_ + "/link";
  fs::create_directory_symlink(run_, link);
  for (const char* end : {"", "/"}) {
    EXPECT_NE(refusal([&] { delete_run(link + end); }).find("is a link to"), std::string::npos);
    EXPECT_NE(refusal([&] { rename_run(link + end, "b"); }).find("is a link"), std::string::npos);
  }
  EXPECT_TRUE(RunReader::is_run(run_));
}

TEST_F(RunFilesTest, StayWhileTheRunIsRecorded) {
  FolderLock lock;
  ASSERT_EQ(lock.take(Folder(run_)), LockResult::kTaken);
  EXPECT_NE(refusal([this] { delete_run(run_, Foreign::kDelete); }).find("is being recorded to"),
            std::string::npos);
  EXPECT_NE(refusal([this] { rename_run(run_, "b"); }).find("is being recorded to"),
            std::string::npos);
  EXPECT_TRUE(RunReader::is_run(run_));
}

TEST_F(RunFilesTest, StayWhereThereIsNoRun) {
  fs::create_directory(above_ + "/empty");
  for (const char* name : {"/empty", "/missing"}) {
    EXPECT_NE(refusal([&] { delete_run(above_ + name, Foreign::kDelete); }).find("holds no run"),
              std::string::npos);
  }
  EXPECT_TRUE(fs::exists(above_ + "/empty"));
}

TEST_F(RunFilesTest, GetAnotherNameInTheirPlace) {
  const std::string to = rename_run(run_ + "/", "second");
  EXPECT_EQ(fs::path(to).filename(), "second");
  EXPECT_FALSE(fs::exists(run_));
  EXPECT_TRUE(RunReader::is_run(above_ + "/second"));
  EXPECT_FALSE(fs::exists(above_ + "/second/lock"));
}

TEST_F(RunFilesTest, KeepTheirNameWhereTheNewOneWillNotDo) {
  fs::create_directory(above_ + "/taken");
  for (const std::string& name : {std::string(),
                                  std::string("a/b"),
                                  std::string(".hidden"),
                                  std::string(".."),
                                  std::string("a\nb"),
                                  std::string("taken")}) {
    EXPECT_FALSE(refusal([&] { rename_run(run_, name); }).empty()) << name;
  }
  EXPECT_TRUE(RunReader::is_run(run_));
}

}  // namespace
}  // namespace flightdeck::record

// SPDX-License-Identifier: MIT
// Runs that appear, grow, move, vanish, die or cannot be read.
#include "serve/run_shelf.h"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <gtest/gtest.h>

#include "record/sqlite.h"
#include "serve/run_finder.h"
#include "tests/record/runs.h"

namespace flightdeck::tests {
namespace {

namespace fs = std::filesystem;
using serve::RunShelf;

bool eventually(const std::function<bool()>& is_true) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!is_true()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

std::string ids_of(const RunShelf& shelf) {
  std::string text;
  for (const auto& run : shelf.list().runs) text += (text.empty() ? "" : " ") + run.id;
  return text;
}

std::string status_of(const RunShelf& shelf, const std::string& id) {
  const auto run = shelf.find(id);
  return run ? run->status : "gone";
}

// A process that records until it is killed.
class Writer {
 public:
  explicit Writer(std::string folder) {
    int ends[2];
    if (::pipe(ends) != 0) ADD_FAILURE() << "no pipe";
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    ::posix_spawn_file_actions_addclose(&actions, ends[0]);
    std::string program = FLIGHTDECK_KILL_WRITER, queue = "256", bytes = "1000000",
                steps = "1000000";
    char* const arguments[] = {
        program.data(), folder.data(), queue.data(), bytes.data(), steps.data(), nullptr};
    if (::posix_spawn(&process_, program.c_str(), &actions, nullptr, arguments, environ) != 0) {
      ADD_FAILURE() << "cannot start " << program;
    }
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    output_ = ends[0];  // never read: the writer stops when the pipe is full
  }
  ~Writer() { end(); }

  void end() {
    if (process_ <= 0) return;
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
    ::close(output_);
    process_ = 0;
  }

 private:
  pid_t process_ = 0;
  int output_ = -1;
};

class Shelf : public testing::Test {
 protected:
  Shelf() {
    path_ = (fs::temp_directory_path() / "shelf_test.XXXXXX").string();
    if (::mkdtemp(path_.data()) == nullptr) ADD_FAILURE() << "no temporary folder";
    outside_ = path_ + ".outside";
  }
  ~Shelf() override {
    fs::remove_all(path_);
    fs::remove_all(outside_);
  }

  static void record(const std::string& folder) {
    fs::create_directories(fs::path(folder).parent_path());
    Recorder recorder(folder);
    recorder.begin(full_info());
    recorder.write(step_of(1, {number("loss", 0.5)}));
    recorder.finish(Ending::kFinished);
  }
  void add(const std::string& id) const { record(path_ + "/" + id); }

  std::string path_, outside_;
};

TEST_F(Shelf, FindsRunsInFoldersOfFolders) {
  add("one");
  add("group/two");
  add("a/b/c/four");
  const RunShelf shelf(path_, 20);
  EXPECT_EQ(ids_of(shelf), "a/b/c/four group/two one");
}

TEST_F(Shelf, FindsTheRunsOfAStudyAmongStudies) {
  add("first/runs/mnist_mlp/adam/constant/random-007/seed-42");
  const RunShelf shelf(path_, 20);
  EXPECT_EQ(ids_of(shelf), "first/runs/mnist_mlp/adam/constant/random-007/seed-42");
}

TEST_F(Shelf, LooksNeitherIntoHiddenNorDeepFoldersNorRuns) {
  add("one");
  add(".hidden/two");
  add("one/inside");
  add("1/2/3/4/5/6/7/8/nine");
  const RunShelf shelf(path_, 20);
  EXPECT_EQ(ids_of(shelf), "one");
}

TEST_F(Shelf, FollowsNoLinks) {
  add("one");
  record(outside_ + "/secret");
  fs::create_directory_symlink(outside_, path_ + "/link");
  fs::create_directory_symlink(outside_ + "/secret", path_ + "/run_link");
  fs::create_directory_symlink(path_, path_ + "/circle");
  fs::create_directory(path_ + "/made_up");
  fs::create_symlink(outside_ + "/secret/run.sqlite", path_ + "/made_up/run.sqlite");
  const RunShelf shelf(path_, 20);
  EXPECT_EQ(ids_of(shelf), "one");
  EXPECT_EQ(shelf.open("link/secret"), nullptr);
}

TEST_F(Shelf, FollowsNoLinkBesideAJournal) {
  record(outside_ + "/secret");
  fs::create_directory(path_ + "/made_up");
  std::ofstream(path_ + "/made_up/journal.0") << "FDJRNL";
  fs::create_symlink(outside_ + "/secret/run.sqlite", path_ + "/made_up/run.sqlite");
  const RunShelf shelf(path_, 20);
  ASSERT_TRUE(eventually([&] { return status_of(shelf, "made_up") == "unreadable"; }));
  EXPECT_NE(shelf.find("made_up")->error.find("symbolic link"), std::string::npos);
}

TEST_F(Shelf, ListsTheOthersBesideRunsThatWouldKeepItForEver) {
  for (const char* file : {"lock", "journal.0", "run.sqlite-wal", "run.sqlite-shm"}) {
    const std::string folder = "fifo_" + std::string(file);
    add(folder);
    fs::remove(path_ + "/" + folder + "/" + file);
    ASSERT_EQ(::mkfifo((path_ + "/" + folder + "/" + file).c_str(), 0600), 0);
  }
  add("endless");
  record::Database(path_ + "/endless/run.sqlite", record::Database::Mode::kWrite)
      .run(
          "DROP TABLE meta; CREATE VIEW meta AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT "
          "i + 1 FROM n) SELECT i AS key, i AS value FROM n");
  add("sound");
  RunShelf shelf(path_, 20);
  ASSERT_TRUE(eventually([&] { return shelf.list().runs.size() == 6; })) << ids_of(shelf);
  EXPECT_EQ(status_of(shelf, "sound"), "finished");
  EXPECT_EQ(status_of(shelf, "endless"), "unreadable");
  EXPECT_EQ(status_of(shelf, "fifo_lock"), "unreadable");
  EXPECT_NE(shelf.find("fifo_lock")->error.find("/lock' is a FIFO"), std::string::npos);
  shelf.stop();
}

TEST_F(Shelf, TakesTheFolderItselfForARun) {
  const RunShelf empty(path_, 20);
  EXPECT_EQ(ids_of(empty), "");
  const std::string folder = path_ + "/only";
  record(folder);
  const RunShelf shelf(folder, 20);
  EXPECT_EQ(ids_of(shelf), ".");
  EXPECT_EQ(shelf.open(".")->last_step(), 1);
}

TEST_F(Shelf, OpensOnlyWhatItFound) {
  add("one");
  record(outside_);
  const RunShelf shelf(path_, 20);
  EXPECT_EQ(ids_of(shelf), "one");
  for (const std::string& id : {outside_,
                                "../" + fs::path(outside_).filename().string(),
                                std::string("./one"),
                                std::string("one/"),
                                std::string("one/../one"),
                                std::string("one\0", 4),
                                std::string(".."),
                                std::string("")}) {
    EXPECT_EQ(shelf.open(id), nullptr) << id;
    EXPECT_FALSE(shelf.find(id)) << id;
  }
}

TEST_F(Shelf, SeesRunsAppearGrowAndEnd) {
  const RunShelf shelf(path_, 20);
  EXPECT_EQ(ids_of(shelf), "");
  fs::create_directory(path_ + "/group");
  Recorder recorder(path_ + "/group/live");
  recorder.begin(full_info());
  EXPECT_TRUE(eventually([&] { return status_of(shelf, "group/live") == "running"; }));
  int64_t change = shelf.find("group/live")->change;
  for (int64_t step = 0; step < 3; ++step) {
    recorder.write(step_of(step, {number("loss", 0.5)}));
    EXPECT_TRUE(eventually([&] { return shelf.find("group/live")->last_step == step; }));
    EXPECT_GT(shelf.find("group/live")->change, change);
    change = shelf.find("group/live")->change;
  }
  recorder.finish(Ending::kFinished);
  EXPECT_TRUE(eventually([&] { return status_of(shelf, "group/live") == "finished"; }));
}

TEST_F(Shelf, CountsNotesAsChanges) {
  Recorder recorder(path_ + "/live");
  recorder.begin(full_info());
  const RunShelf shelf(path_, 20);
  EXPECT_TRUE(eventually([&] { return status_of(shelf, "live") == "running"; }));
  const int64_t change = shelf.find("live")->change;
  recorder.note({0, 1, NoteKind::kRemark, "", "something"});
  EXPECT_TRUE(eventually([&] { return shelf.find("live")->change > change; }));
}

TEST_F(Shelf, SeesRunsMoveAndVanish) {
  add("one");
  add("two");
  const RunShelf shelf(path_, 20);
  EXPECT_EQ(ids_of(shelf), "one two");
  const int64_t change = shelf.since(0).change;
  fs::create_directory(path_ + "/archive");
  fs::rename(path_ + "/one", path_ + "/archive/first");
  EXPECT_TRUE(eventually([&] { return ids_of(shelf) == "archive/first two"; }));
  fs::remove_all(path_ + "/two");
  EXPECT_TRUE(eventually([&] { return ids_of(shelf) == "archive/first"; }));
  EXPECT_EQ(shelf.open("two"), nullptr);
  const auto changes = shelf.since(change);
  ASSERT_EQ(changes.gone.size(), 2u);
  EXPECT_EQ(changes.gone[0].id, "one");
  EXPECT_EQ(changes.gone[1].id, "two");
  ASSERT_EQ(changes.runs.size(), 1u);
  EXPECT_EQ(changes.runs[0].id, "archive/first");
}

TEST_F(Shelf, SeesThatARunWasReplaced) {
  add("one");
  const RunShelf shelf(path_, 20);
  EXPECT_EQ(shelf.open("one")->last_step(), 1);
  fs::remove_all(path_ + "/one");
  {
    Recorder recorder(path_ + "/one");
    recorder.begin(full_info());
    recorder.write(step_of(77, {number("loss", 0.5)}));
    recorder.finish(Ending::kFailed);
  }
  EXPECT_TRUE(eventually([&] { return status_of(shelf, "one") == "failed"; }));
  EXPECT_EQ(shelf.find("one")->last_step, 77);
  EXPECT_EQ(shelf.open("one")->last_step(), 77);
}

TEST_F(Shelf, SurvivesTheLossOfItsFolder) {
  add("one");
  const RunShelf shelf(path_, 20);
  EXPECT_EQ(ids_of(shelf), "one");
  fs::remove_all(path_);
  EXPECT_TRUE(eventually([&] { return ids_of(shelf).empty(); }));
  add("two");
  EXPECT_TRUE(eventually([&] { return ids_of(shelf) == "two"; }));
}

TEST_F(Shelf, KeepsRunsWhileFoldersCannotBeOpened) {
  add("one");
  serve::RunFinder finder(path_);
  EXPECT_TRUE(finder.look());
  struct rlimit before = {};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  struct rlimit none = before;
  none.rlim_cur = 0;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const bool has_looked = finder.look();  // again, since the folder is fresh
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_FALSE(has_looked);
  EXPECT_EQ(finder.runs().size(), 1u);
  add("two");
  EXPECT_TRUE(finder.look());
  EXPECT_EQ(finder.runs().size(), 2u);
}

TEST_F(Shelf, ListsRunsThatCannotBeRead) {
  fs::create_directory(path_ + "/damaged");
  std::ofstream(path_ + "/damaged/run.sqlite") << "this is no database, but long enough for one";
  add("whole");
  const RunShelf shelf(path_, 20);
  EXPECT_TRUE(eventually([&] { return status_of(shelf, "damaged") == "unreadable"; }));
  EXPECT_NE(shelf.find("damaged")->error, "");
  EXPECT_EQ(shelf.find("damaged")->last_step, -1);
  EXPECT_EQ(status_of(shelf, "whole"), "finished");
  fs::remove_all(path_ + "/damaged");
  add("damaged");
  EXPECT_TRUE(eventually([&] { return status_of(shelf, "damaged") == "finished"; }));
}

TEST_F(Shelf, AsksToRenameARunThatNoRequestCanName) {
  add("caf\xe9");
  const RunShelf shelf(path_, 20);
  EXPECT_TRUE(eventually([&] { return status_of(shelf, "caf\xe9") == "unreadable"; }));
  EXPECT_NE(shelf.find("caf\xe9")->error.find("rename it"), std::string::npos);
}

TEST_F(Shelf, SeesThatARecorderWasKilled) {
  const RunShelf shelf(path_, 20);
  Writer writer(path_ + "/live");
  EXPECT_TRUE(eventually([&] {
    const auto run = shelf.find("live");
    return run && run->status == "running" && run->last_step > 10;
  }));
  writer.end();
  EXPECT_TRUE(eventually([&] { return status_of(shelf, "live") == "killed"; }));
}

TEST_F(Shelf, WritesNothing) {
  add("finished");
  {
    Writer writer(path_ + "/killed");
    EXPECT_TRUE(eventually([&] { return fs::exists(path_ + "/killed/run.sqlite"); }));
    writer.end();
  }
  const std::string before = contents(path_ + "/finished") + contents(path_ + "/killed");
  {
    const RunShelf shelf(path_, 20);
    EXPECT_EQ(shelf.list().runs.size(), 2u);
    EXPECT_EQ(status_of(shelf, "killed"), "killed");
    shelf.open("killed")->series();
    shelf.open("finished")->series();
  }
  EXPECT_EQ(contents(path_ + "/finished") + contents(path_ + "/killed"), before);
}

TEST_F(Shelf, RefusesAFolderThatIsNotThere) {
  const std::string message = message_of([&] { RunShelf(path_ + "/nowhere", 20); });
  EXPECT_NE(message.find("/nowhere"), std::string::npos) << message;
  EXPECT_NE(message.find("flightdeck run"), std::string::npos) << message;
}

}  // namespace
}  // namespace flightdeck::tests

// SPDX-License-Identifier: MIT
// Kills a process that records, at random moments, and reads what it left.
#include <chrono>
#include <filesystem>
#include <limits>
#include <random>
#include <signal.h>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <gtest/gtest.h>

#include "flightdeck/record.h"
#include "record/file.h"
#include "record/folder.h"
#include "record/sqlite.h"
#include "record/view.h"
#include "tests/record/runs.h"

namespace flightdeck::tests {
namespace {

using record::Database;

// A process that records made steps and reports each whose `write` has returned.
class Writer {
 public:
  Writer(const std::string& folder,
         int64_t queue_steps,
         int64_t journal_bytes,
         int64_t steps = std::numeric_limits<int64_t>::max(),
         bool rests = false) {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    const std::string queue = std::to_string(queue_steps), bytes = std::to_string(journal_bytes),
                      end = std::to_string(steps);
    process_ = ::fork();
    if (process_ == 0) {
      ::dup2(ends[1], STDOUT_FILENO);
      ::close(ends[0]);
      ::close(ends[1]);
      ::execl(FLIGHTDECK_KILL_WRITER,
              FLIGHTDECK_KILL_WRITER,
              folder.c_str(),
              queue.c_str(),
              bytes.c_str(),
              end.c_str(),
              rests ? "rest" : static_cast<char*>(nullptr),
              static_cast<char*>(nullptr));
      ::_exit(127);
    }
    ::close(ends[1]);
    reports_ = ends[0];
  }
  ~Writer() {
    if (process_ > 0) kill();
    ::close(reports_);
  }

  // Takes the next report; false at the end.
  bool next() {
    int64_t step = 0;
    if (::read(reports_, &step, sizeof step) != sizeof step) return false;
    last_ = step;
    return true;
  }

  // Kills it and takes what it still reported.
  void kill() {
    ::kill(process_, SIGKILL);
    int status = 0;
    ::waitpid(process_, &status, 0);
    is_killed_ = WIFSIGNALED(status);
    EXPECT_TRUE(is_killed_ || WEXITSTATUS(status) == 0) << "status " << WEXITSTATUS(status);
    process_ = 0;
    while (next()) {
    }
  }

  // Holds the process as it is; only a kill ends that.
  void hold() {
    ::kill(process_, SIGSTOP);
    int status = 0;
    EXPECT_EQ(::waitpid(process_, &status, WUNTRACED), process_);
    EXPECT_TRUE(WIFSTOPPED(status));
  }

  int64_t last() const { return last_; }
  bool is_killed() const { return is_killed_; }

 private:
  pid_t process_ = 0;
  int reports_ = -1;
  int64_t last_ = -1;
  bool is_killed_ = false;
};

// What a log of SQLite begins with.
constexpr int64_t kLogHeader = 32;

// The moment of a kill is the point here; nothing depends on how long this takes.
void wait_up_to(int microseconds, std::mt19937& random) {
  const auto end =
      std::chrono::steady_clock::now() +
      std::chrono::microseconds(std::uniform_int_distribution<>(0, microseconds)(random));
  while (std::chrono::steady_clock::now() < end) {
  }
}

// Returns when the writer's thread has long written nothing.
void wait_for_rest(const std::string& folder) {
  std::string last;
  for (int same = 0; same < 30; ++same) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    const std::string now = RunReader::fingerprint(folder);
    if (now != last) same = 0;
    last = now;
  }
}

// A killed run with a database and a journal behind it.
int64_t make_killed_run(const std::string& folder) {
  Writer writer(folder, 8, 20000);
  while (writer.last() < 200) writer.next();
  writer.kill();
  return writer.last();
}

TEST(Kill, AtAnyMomentKeepsEveryStepThatWasWritten) {
  std::mt19937 random(20240611);
  int64_t with_database = 0, steps = 0;
  for (int round = 0; round < 100; ++round) {
    SCOPED_TRACE(round);
    RunFolder run;
    Writer writer(run.path(), 8, round % 2 == 0 ? 20000 : 16 << 20);
    const int64_t reports = std::uniform_int_distribution<int64_t>(0, round < 20 ? 3 : 300)(random);
    while (writer.last() < reports - 1 && writer.next()) {
    }
    wait_up_to(2000, random);
    writer.kill();
    EXPECT_TRUE(writer.is_killed());
    steps += writer.last() + 1;
    // It may have been killed before there was a run.
    if (writer.last() < 0 && !RunReader::is_run(run.path())) continue;
    const std::string before = contents(run.path());
    {
      const RunReader reader(run.path());
      EXPECT_EQ(reader.status(), RunStatus::kKilled);
      EXPECT_EQ(faults(reader, writer.last()), "");
      EXPECT_GE(reader.last_step(), writer.last());
      for (const SeriesInfo& series : reader.series()) {
        if (series.kind != ReadingKind::kNumber) continue;
        EXPECT_EQ(stretch_faults(reader, series.id, {}, 1), "");
        EXPECT_EQ(stretch_faults(reader, series.id, {}, 1000), "");
      }
    }
    EXPECT_TRUE(contents(run.path()) == before) << "the reader wrote";
    const record::Folder folder(run.path());
    if (!record::exists(folder.database())) continue;
    ++with_database;
    const bool has_log = record::file_size(folder.wal()) > kLogHeader;
    Database database(folder.database(),
                      has_log ? Database::Mode::kRead : Database::Mode::kImmutable);
    EXPECT_EQ(database.text("PRAGMA integrity_check"), "ok");
  }
  EXPECT_GT(with_database, 50);
  EXPECT_GT(steps, 1000);
}

TEST(Kill, ChangesTheFingerprintWithoutAWrite) {
  RunFolder run;
  Writer writer(run.path(), 8, 20000, 21, true);
  while (writer.last() < 20) ASSERT_TRUE(writer.next());
  wait_for_rest(run.path());  // held amid a write, it would hold the lock of its database
  writer.hold();
  const std::string held = RunReader::fingerprint(run.path());
  EXPECT_EQ(RunReader(run.path()).status(), RunStatus::kRunning);
  EXPECT_EQ(RunReader::fingerprint(run.path()), held);
  const std::string before = contents(run.path());
  writer.kill();
  EXPECT_TRUE(contents(run.path()) == before);
  const std::string killed = RunReader::fingerprint(run.path());
  EXPECT_NE(killed, held);
  EXPECT_EQ(RunReader(run.path()).status(), RunStatus::kKilled);
  EXPECT_EQ(RunReader::fingerprint(run.path()), killed);
}

TEST(Kill, WhileTheRunEndsKeepsEverything) {
  constexpr int64_t kSteps = 40;
  std::mt19937 random(7);
  for (int round = 0; round < 40; ++round) {
    SCOPED_TRACE(round);
    RunFolder run;
    Writer writer(run.path(), 8, 5000, kSteps);
    while (writer.last() < kSteps - 1 && writer.next()) {
    }
    wait_up_to(40000, random);
    writer.kill();
    const RunReader reader(run.path());
    const RunStatus status = reader.status();
    EXPECT_TRUE(status == RunStatus::kFinished ||
                (status == RunStatus::kKilled && writer.is_killed()))
        << to_string(status);
    EXPECT_EQ(faults(reader, kSteps - 1), "");
  }
}

TEST(Kill, LeavesARunThatIsReadWithoutTheIndexOfItsLog) {
  RunFolder run;
  const int64_t last = make_killed_run(run.path());
  const record::Folder folder(run.path());
  ASSERT_GT(record::file_size(folder.wal()), 0);
  std::filesystem::remove(folder.shm());
  const std::string before = contents(run.path());
  EXPECT_EQ(faults(RunReader(run.path()), last), "");
  EXPECT_TRUE(contents(run.path()) == before) << "the reader wrote";
}

TEST(Kill, LeavesARunThatIsCopiedOncePerReaderAndAgainWhenItChanges) {
  RunFolder run;
  make_killed_run(run.path());
  const record::Folder folder(run.path());
  std::filesystem::remove(folder.shm());
  record::TailKeeper tails;
  record::KeptCopy kept;
  const record::Patience patience(60, nullptr);
  const std::string first = record::open_view(folder, tails, kept, patience).copy->path();
  const record::View held = record::open_view(folder, tails, kept, patience);
  EXPECT_EQ(held.copy->path(), first);
  std::filesystem::last_write_time(folder.wal(), std::filesystem::file_time_type::clock::now());
  const record::View next = record::open_view(folder, tails, kept, patience);
  EXPECT_NE(next.copy->path(), first);
  EXPECT_EQ(held.database->integer("SELECT COUNT(*) FROM series"),
            next.database->integer("SELECT COUNT(*) FROM series"));
  EXPECT_TRUE(record::exists(first + "/run.sqlite")) << "somebody still reads it";
}

TEST(Kill, BetweenTheHeaderOfTheLogAndItsFirstPageIsNoHindrance) {
  RunFolder run;
  Writer writer(run.path(), 8, 16 << 20);
  while (writer.last() < 50) ASSERT_TRUE(writer.next());
  writer.kill();
  const record::Folder folder(run.path());
  // Nothing was checkpointed yet: without its log the database is as it was made.
  ASSERT_GT(record::file_size(folder.wal()), kLogHeader);
  std::filesystem::resize_file(folder.wal(), kLogHeader);
  EXPECT_EQ(faults(RunReader(run.path()), writer.last()), "");
}

TEST(Kill, LeavesADatabaseThatIsReadWithoutItsJournal) {
  RunFolder run;
  make_killed_run(run.path());
  for (const auto& entry : std::filesystem::directory_iterator(run.path())) {
    if (entry.path().filename().string().rfind("journal", 0) == 0) {
      std::filesystem::remove(entry.path());
    }
  }
  const RunReader reader(run.path());
  EXPECT_GT(reader.last_step(), 0);
  EXPECT_EQ(faults(reader, 0), "");
}

TEST(Kill, LeavesAFolderThatARecorderRefuses) {
  RunFolder run;
  const int64_t last = make_killed_run(run.path());
  const std::string message = message_of([&] { Recorder recorder(run.path()); });
  EXPECT_NE(message.find("already holds a run"), std::string::npos) << message;
  EXPECT_EQ(faults(RunReader(run.path()), last), "");
}

TEST(AnotherProcess, IsSeenToBeRunningAndReadWhole) {
  RunFolder run;
  Writer writer(run.path(), 8, 20000);
  for (int round = 0; round < 20; ++round) {
    const int64_t reports = writer.last() + 20;
    while (writer.last() < reports) ASSERT_TRUE(writer.next());
    const int64_t written = writer.last();
    const RunReader reader(run.path());
    EXPECT_EQ(reader.status(), RunStatus::kRunning);
    EXPECT_EQ(faults(reader, written), "");
  }
  const std::string message = message_of([&] { Recorder recorder(run.path()); });
  EXPECT_NE(message.find("is being recorded"), std::string::npos) << message;
}

}  // namespace
}  // namespace flightdeck::tests

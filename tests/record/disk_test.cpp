// SPDX-License-Identifier: MIT
// Disks that are full or cannot be written. A limit on file sizes stands in for a full disk:
// write(2) fails in the same way, at a byte that the test chooses.
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <signal.h>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>

#include <gtest/gtest.h>

#include "base/host_name.h"
#include "flightdeck/record.h"
#include "record/file.h"
#include "tests/record/made_steps.h"
#include "tests/record/runs.h"

namespace flightdeck::tests {
namespace {

class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    set(bytes);
  }
  ~FileSizeLimit() {
    lift();
    ::signal(SIGXFSZ, handler_);
  }
  void lift() { ::setrlimit(RLIMIT_FSIZE, &before_); }
  void set(rlim_t bytes) {
    rlimit limit = before_;
    limit.rlim_cur = bytes;
    EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  }

 private:
  struct rlimit before_ = {};
  void (*handler_)(int);
};

// Writes `step` and counts it on; `last_lost` is the last step that was lost.
void write_next(Recorder& recorder, int64_t& step, int64_t& last_lost) {
  const int64_t before = recorder.statistics().not_stored;
  recorder.write(make_step(step));
  if (recorder.statistics().not_stored > before) last_lost = step;
  ++step;
}

// Goes on until nothing waits any more. A disk that was slow to fail is not asked at every step, so
// where there was no room to wait more steps may be lost on the way.
void catch_up(Recorder& recorder, int64_t& step, int64_t& last_lost) {
  RecorderStatistics now;
  do {
    write_next(recorder, step, last_lost);
    std::this_thread::yield();
    now = recorder.statistics();
  } while (now.written + now.not_stored < step);
}

TEST(FullDisk, TrainingGoesOnAndTheRecordSaysWhatIsMissing) {
  RunFolder run;
  std::vector<std::string> warnings;
  RecorderOptions options = collecting(warnings);
  options.journal_bytes = 21000;  // four times as much waits in memory
  Recorder recorder(run.path(), options);
  FileSizeLimit limit(20000);
  int64_t step = 0, last_lost = -1;
  while (recorder.statistics().not_stored < 5) write_next(recorder, step, last_lost);
  EXPECT_LT(recorder.statistics().written, step - 5);  // others wait for room
  limit.lift();
  catch_up(recorder, step, last_lost);
  const int64_t lost = recorder.statistics().not_stored;
  EXPECT_GE(lost, 5);
  for (const bool is_finished : {false, true}) {
    if (is_finished) recorder.finish(Ending::kFinished);
    const RunReader reader(run.path());
    EXPECT_EQ(reader.find("loss")->count, step - lost);
    EXPECT_EQ(reader.last_step(), step - 1);
    const auto notes = reader.notes();
    ASSERT_EQ(notes.size(), 1u);
    EXPECT_EQ(notes[0].kind, NoteKind::kNotStored);
    EXPECT_NE(notes[0].text.find("to " + std::to_string(last_lost)), std::string::npos)
        << notes[0].text;
    EXPECT_NE(notes[0].text.find(std::to_string(lost) + " calls"), std::string::npos)
        << notes[0].text;
  }
  EXPECT_EQ(recorder.statistics().not_stored, lost);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("make room on its disk"), std::string::npos) << warnings[0];
}

TEST(FullDisk, LosesNothingWhileWhatItRefusesFitsIntoMemory) {
  RunFolder run;
  std::vector<std::string> warnings;
  Recorder recorder(run.path(), collecting(warnings));
  recorder.begin(full_info());
  FileSizeLimit limit(2000);
  for (int64_t step = 0; step < 100; ++step) recorder.write(make_step(step));
  EXPECT_LT(recorder.statistics().written, 100);
  recorder.note({100, 0, NoteKind::kRemark, "", "behind them"});
  limit.lift();
  int64_t step = 100, last_lost = -1;
  catch_up(recorder, step, last_lost);
  EXPECT_EQ(recorder.statistics().not_stored, 0);
  recorder.finish(Ending::kFinished);
  const RunReader reader(run.path());
  EXPECT_EQ(reader.status(), RunStatus::kFinished);
  EXPECT_EQ(reader.find("loss")->count, step);
  ASSERT_EQ(reader.notes().size(), 1u);
  EXPECT_EQ(reader.notes()[0].text, "behind them");
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("training goes on"), std::string::npos) << warnings[0];
}

// The descriptor of a network disk that was gone may stay dead after the disk is back.
TEST(NetworkDisk, ThatComesBackUnderTheSameNameIsOpenedAgain) {
  RunFolder run;
  std::vector<std::string> warnings;
  Recorder recorder(run.path(), collecting(warnings));
  recorder.write(make_step(0));
  const int dead = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
  int replaced = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code ignored;
    const std::string name = std::filesystem::read_symlink(entry.path(), ignored).string();
    const bool is_journal = name.find(std::filesystem::canonical(run.path()).string()) == 0 &&
                            name.find("journal.") != std::string::npos;
    const int descriptor = std::stoi(entry.path().filename().string());
    // The store's thread reads through a descriptor of its own.
    if (!is_journal || (::fcntl(descriptor, F_GETFL) & O_RDWR) == 0) continue;
    ::dup2(dead, descriptor);
    ++replaced;
  }
  ::close(dead);
  ASSERT_EQ(replaced, 1);
  recorder.write(make_step(1));
  EXPECT_EQ(recorder.statistics().written, 1);
  int64_t step = 2, last_lost = -1;
  catch_up(recorder, step, last_lost);
  EXPECT_EQ(last_lost, -1);
  recorder.finish(Ending::kFinished);
  EXPECT_EQ(RunReader(run.path()).find("loss")->count, step);
}

TEST(NetworkDisk, WhoseFolderIsAwayForAWhileHasEveryStepAtTheEnd) {
  RunFolder run;
  const std::string away = run.path() + ".away";
  std::vector<std::string> warnings;
  RecorderOptions options = collecting(warnings);
  options.journal_bytes = 500;  // new files are needed while it is away
  options.queue_steps = 4;
  Recorder recorder(run.path(), options);
  for (int64_t step = 0; step < 20; ++step) recorder.write(make_step(step));
  std::filesystem::rename(run.path(), away);
  for (int64_t step = 20; step < 200; ++step) recorder.write(make_step(step));
  std::filesystem::rename(away, run.path());
  recorder.finish(Ending::kFinished);
  EXPECT_EQ(recorder.statistics().not_stored, 0);
  const RunReader reader(run.path());
  EXPECT_EQ(reader.status(), RunStatus::kFinished);
  EXPECT_EQ(reader.find("loss")->count, 200);
  EXPECT_TRUE(reader.notes().empty());
}

TEST(FullDisk, ThatStaysFullIsSaidAtTheEnd) {
  RunFolder run;
  std::vector<std::string> warnings;
  Recorder recorder(run.path(), collecting(warnings));
  recorder.begin(full_info());
  FileSizeLimit limit(2000);
  for (int64_t step = 0; step < 50; ++step) recorder.write(make_step(step));
  recorder.note({50, 0, NoteKind::kRemark, "", std::string(3000, 'x')});
  recorder.finish(Ending::kFinished);
  limit.lift();
  const RecorderStatistics statistics = recorder.statistics();
  EXPECT_EQ(statistics.written + statistics.not_stored, 50);
  EXPECT_GT(statistics.not_stored, 0);
  const std::string last = warnings.empty() ? "" : warnings.back();
  EXPECT_NE(last.find("to 49"), std::string::npos) << last;
  const RunReader reader(run.path());
  EXPECT_EQ(reader.status(), RunStatus::kKilled);
  const auto loss = reader.find("loss");
  EXPECT_EQ(loss ? loss->count : 0, statistics.written);
}

TEST(FullDisk, WhatTheJournalCouldNotTakeIsStoredAtTheEnd) {
  RunFolder run;
  std::vector<std::string> warnings;
  Recorder recorder(run.path(), collecting(warnings));
  FileSizeLimit limit(2000);
  recorder.note({0, 0, NoteKind::kRemark, "", std::string(3000, 'x')});
  limit.lift();
  recorder.finish(Ending::kInterrupted);
  const RunReader reader(run.path());
  EXPECT_EQ(reader.status(), RunStatus::kInterrupted);
  ASSERT_EQ(reader.notes().size(), 1u);
  EXPECT_EQ(reader.notes()[0].text.size(), 3000u);
}

TEST(ReadOnlyDisk, IsOneWarningAndNothingIsStored) {
  RunFolder run;
  std::filesystem::create_directories(run.path());
  std::ofstream(run.path() + "/file") << "x";
  // The first is no folder; nobody, root included, can make files in the second.
  for (const std::string& folder : {run.path() + "/file/run", std::string("/proc/self")}) {
    std::vector<std::string> warnings;
    Recorder recorder(folder, collecting(warnings));
    recorder.begin(full_info());
    for (int64_t step = 0; step < 10; ++step) recorder.write(make_step(step));
    ASSERT_EQ(warnings.size(), 1u);
    EXPECT_NE(warnings[0].find(folder), std::string::npos) << warnings[0];
    EXPECT_NE(warnings[0].find("nothing is stored"), std::string::npos) << warnings[0];
    recorder.finish(Ending::kFinished);
    EXPECT_EQ(recorder.statistics().not_stored, 10);
    EXPECT_EQ(recorder.statistics().written, 0);
    ASSERT_EQ(warnings.size(), 2u);
    EXPECT_NE(warnings[1].find("steps 0 to 9"), std::string::npos) << warnings[1];
  }
}

TEST(FailingDatabase, LeavesTheValuesInTheJournalUntilItWorksAgain) {
  RunFolder run;
  // A folder in the place of the file: the database cannot be made.
  std::filesystem::create_directories(run.path() + "/run.sqlite.new/x");
  std::vector<std::string> warnings;
  RecorderOptions options = collecting(warnings);
  options.queue_steps = 4;
  Recorder recorder(run.path(), options);
  int64_t step = 0;
  // Far more than the queue holds: training does not wait for a database that fails.
  while (warnings.empty() || step < 100) {
    recorder.write(make_step(step++));
    std::this_thread::yield();
  }
  EXPECT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("run.sqlite"), std::string::npos) << warnings[0];
  EXPECT_EQ(recorder.statistics().not_stored, 0);
  EXPECT_FALSE(record::exists(run.path() + "/run.sqlite"));
  {
    const RunReader reader(run.path());
    EXPECT_EQ(reader.status(), RunStatus::kRunning);
    EXPECT_EQ(reader.find("loss")->count, step);
  }
  std::filesystem::remove_all(run.path() + "/run.sqlite.new");
  recorder.finish(Ending::kFinished);
  EXPECT_EQ(warnings.size(), 1u);
  EXPECT_TRUE(record::exists(run.path() + "/run.sqlite"));
  EXPECT_FALSE(record::exists(run.path() + "/journal.0"));
  EXPECT_EQ(RunReader(run.path()).find("loss")->count, step);
}

TEST(FailingDatabase, ThatWorksAgainHasTheStretchesOfAllValues) {
  RunFolder run;
  std::vector<std::string> warnings;
  RecorderOptions options = collecting(warnings);
  options.queue_steps = 20;
  // Journal files stay below the limit that stops the database's log.
  options.journal_bytes = 20000;
  Recorder recorder(run.path(), options);
  FileSizeLimit limit(300000);
  int64_t step = 0;
  while (warnings.empty()) recorder.write(make_step(step++));
  limit.lift();
  for (int64_t more = 0; more < 100; ++more) recorder.write(make_step(step++));
  recorder.write(make_step(10));
  recorder.finish(Ending::kFinished);
  EXPECT_EQ(recorder.statistics().not_stored, 0);
  EXPECT_GT(step, 200);
  const RunReader reader(run.path());
  EXPECT_EQ(reader.find("loss")->count, step);
  for (const int64_t at_most : {1, 3, 50}) {
    EXPECT_EQ(stretch_faults(reader, reader.find("loss")->id, {}, at_most), "");
  }
}

TEST(FailingDatabase, AtTheEndLeavesARunThatIsReadFromItsJournal) {
  RunFolder run;
  std::filesystem::create_directories(run.path() + "/run.sqlite.new/x");
  std::vector<std::string> warnings;
  Recorder recorder(run.path(), collecting(warnings));
  recorder.begin(full_info());
  for (int64_t step = 0; step < 20; ++step) recorder.write(make_step(step));
  recorder.finish(Ending::kFinished);
  EXPECT_EQ(warnings.size(), 1u);
  const RunReader reader(run.path());
  EXPECT_EQ(reader.status(), RunStatus::kFinished);
  EXPECT_EQ(reader.info().host, host_name());
  EXPECT_EQ(reader.find("loss")->count, 20);
}

}  // namespace
}  // namespace flightdeck::tests

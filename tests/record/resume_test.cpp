// SPDX-License-Identifier: MIT
// Runs that are gone on with after their end or their death.
#include <random>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "flightdeck/record.h"
#include "tests/record/made_steps.h"
#include "tests/record/runs.h"

namespace flightdeck::tests {
namespace {

RecorderOptions resuming_at(int64_t step) {
  RecorderOptions options;
  options.resume_at = step;
  options.journal_bytes = 1 << 16;  // several generations
  return options;
}

// As a training does: what becomes known late is written with the next step.
void write_steps(Recorder& recorder, int64_t first, int64_t end) {
  for (int64_t step = first; step < end; ++step) {
    recorder.write(make_step(step));
    if (step > 0) recorder.write(make_late_step(step - 1));
  }
}

void record(const std::string& folder, int64_t steps, Ending ending) {
  Recorder recorder(folder);
  RunInfo info = full_info();
  info.start_time = 1234.5;
  recorder.begin(info);
  write_steps(recorder, 0, steps);
  recorder.note({steps - 1, 0, NoteKind::kRemark, "", "late"});
  recorder.note({0, 0, NoteKind::kRemark, "", "early"});
  recorder.finish(ending);
}

// In a process that ends without a word.
void record_and_die(const std::string& folder, const RecorderOptions& options, int64_t end) {
  const pid_t child = ::fork();
  if (child == 0) {
    Recorder recorder(folder, options);
    recorder.begin(full_info());
    write_steps(recorder, options.resume_at.value_or(0), end);
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

std::string all_stretch_faults(const RunReader& reader) {
  std::string faults;
  for (const SeriesInfo& series : reader.series()) {
    if (series.kind != ReadingKind::kNumber) continue;
    for (const int64_t at_most : {1, 7, 100}) {
      faults += stretch_faults(reader, series.id, {}, at_most);
    }
  }
  return faults;
}

TEST(ResumedRun, IsAsIfItHadNeverEnded) {
  const RunFolder folder;
  record(folder.path(), 500, Ending::kInterrupted);
  {
    Recorder recorder(folder.path(), resuming_at(321));
    recorder.begin(full_info());
    const RunReader reader(folder.path());
    EXPECT_EQ(reader.status(), RunStatus::kRunning);
    EXPECT_EQ(reader.last_step(), 320);
    write_steps(recorder, 321, 900);
    EXPECT_EQ(reader.last_step(), 899);
    recorder.finish(Ending::kFinished);
  }
  const RunReader reader(folder.path());
  EXPECT_EQ(reader.status(), RunStatus::kFinished);
  EXPECT_EQ(reader.info().start_time, 1234.5);
  EXPECT_EQ(faults(reader, 899), "");
  EXPECT_EQ(all_stretch_faults(reader), "");
  EXPECT_EQ(reader.find("alpha")->count, 899);
}

TEST(ResumedRun, ForgetsWhatCameAfterTheStepItResumesAt) {
  const RunFolder folder;
  record(folder.path(), 500, Ending::kFinished);
  Recorder(folder.path(), resuming_at(100)).finish(Ending::kInterrupted);
  const RunReader reader(folder.path());
  EXPECT_EQ(reader.status(), RunStatus::kInterrupted);
  EXPECT_EQ(reader.last_step(), 99);
  EXPECT_EQ(reader.find("loss")->count, 100);
  EXPECT_EQ(faults(reader, 99), "");
  EXPECT_EQ(all_stretch_faults(reader), "");
  const std::vector<Note> notes = reader.notes();
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes[0].text, "early");
}

TEST(ResumedRun, ShowsNoSeriesThatItForgot) {
  const RunFolder folder;
  record(folder.path(), 10, Ending::kFinished);
  Recorder(folder.path(), resuming_at(0)).finish(Ending::kInterrupted);
  const RunReader reader(folder.path());
  EXPECT_TRUE(reader.series().empty());
  EXPECT_EQ(reader.find("loss"), nullptr);
  EXPECT_TRUE(reader.last_numbers().empty());
  EXPECT_EQ(reader.last_step(), -1);
}

TEST(ResumedRun, MayHaveDiedAnyNumberOfTimes) {
  std::mt19937 random(7);
  const RunFolder folder;
  int64_t end = 50 + random() % 400;
  RecorderOptions options;
  options.journal_bytes = 1 << 16;
  record_and_die(folder.path(), options, end);
  for (int death = 0; death < 8; ++death) {
    EXPECT_EQ(RunReader(folder.path()).status(), RunStatus::kKilled);
    const int64_t from = random() % end;
    end = from + 1 + random() % 400;
    record_and_die(folder.path(), resuming_at(from), end);
    const RunReader reader(folder.path());
    EXPECT_EQ(reader.last_step(), end - 1);
    EXPECT_EQ(faults(reader, end - 1), "");
    EXPECT_EQ(all_stretch_faults(reader), "");
  }
}

TEST(ResumedRun, BeginsWhereThereIsNone) {
  const RunFolder folder;
  {
    Recorder recorder(folder.path(), resuming_at(0));
    recorder.begin(full_info());
    write_steps(recorder, 0, 20);
    recorder.finish(Ending::kFinished);
  }
  EXPECT_EQ(faults(RunReader(folder.path()), 19), "");
}

TEST(ResumedRun, IsRefusedWhileAnotherRecordsIt) {
  const RunFolder folder;
  Recorder first(folder.path());
  first.begin(full_info());
  write_steps(first, 0, 5);
  EXPECT_NE(message_of([&] {
              Recorder(folder.path(), resuming_at(3));
            }).find("is being recorded to by another recorder"),
            std::string::npos);
  EXPECT_EQ(RunReader(folder.path()).last_step(), 4);
}

}  // namespace
}  // namespace flightdeck::tests

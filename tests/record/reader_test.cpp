// SPDX-License-Identifier: MIT
#include <atomic>
#include <chrono>
#include <filesystem>
#include <thread>

#include <gtest/gtest.h>

#include "flightdeck/record.h"
#include "record/sqlite.h"
#include "tests/record/made_steps.h"
#include "tests/record/runs.h"

namespace flightdeck::tests {
namespace {

using record::Database;

TEST(RunReader, RefusesAFolderWithoutARun) {
  RunFolder run;
  EXPECT_FALSE(RunReader::is_run(run.path()));
  const std::string message = message_of([&] { RunReader reader(run.path()); });
  EXPECT_NE(message.find(run.path()), std::string::npos) << message;
  std::filesystem::create_directories(run.path());
  EXPECT_THROW(RunReader reader(run.path()), std::invalid_argument);
}

TEST(RunReader, RefusesANewerFormatAndForeignDatabases) {
  RunFolder run;
  record_steps(run.path(), 1, Ending::kFinished);
  Database(run.path() + "/run.sqlite", Database::Mode::kPlain).run("PRAGMA user_version = 7");
  std::string message = message_of([&] { RunReader reader(run.path()); });
  EXPECT_NE(message.find("format 7"), std::string::npos) << message;
  EXPECT_NE(message.find("newer"), std::string::npos) << message;
  Database(run.path() + "/run.sqlite", Database::Mode::kPlain).run("PRAGMA application_id = 7");
  message = message_of([&] { RunReader reader(run.path()); });
  EXPECT_NE(message.find("no run of Flightdeck"), std::string::npos) << message;
}

TEST(RunReader, TellsHowARunEnded) {
  for (const Ending ending :
       {Ending::kFinished, Ending::kInterrupted, Ending::kDiverged, Ending::kFailed}) {
    RunFolder run;
    record_steps(run.path(), 2, ending);
    EXPECT_EQ(RunReader(run.path()).status(), status_of(ending));
    EXPECT_EQ(ending_of(to_string(ending)), ending);
  }
}

TEST(RunReader, TakesARunThatEndedWithAWordOfItsOwnAsFinished) {
  RunFolder run;
  record_steps(run.path(), 2, Ending::kFailed);
  Database(run.path() + "/run.sqlite", Database::Mode::kPlain)
      .run("UPDATE meta SET value = 'enough for today' WHERE key = 'ending'");
  EXPECT_EQ(RunReader(run.path()).status(), RunStatus::kFinished);
}

TEST(RunReader, ReadsARunWithoutSteps) {
  RunFolder run;
  Recorder recorder(run.path());
  for (const bool is_finished : {false, true}) {
    if (is_finished) recorder.finish(Ending::kFinished);
    const RunReader reader(run.path());
    EXPECT_EQ(reader.last_step(), -1);
    EXPECT_EQ(reader.last_time(), 0);
    EXPECT_TRUE(reader.series().empty());
    EXPECT_TRUE(reader.notes().empty());
    EXPECT_EQ(reader.find("loss"), nullptr);
    EXPECT_EQ(reader.info().host, "");
    reader.for_each_step([](const StepReadings&) { FAIL() << "a step"; });
  }
}

TEST(RunReader, ListsAndFindsSeries) {
  RunFolder run;
  Recorder recorder(run.path());
  recorder.write(step_of(3, {number("loss", 1), number("grad_norm", 2, "gewichtungsfaktor.β∂")}));
  recorder.write(step_of(5, {number("loss", 1), number("loss", 7, "", "iterations")}));
  recorder.finish(Ending::kFinished);
  const RunReader reader(run.path());
  EXPECT_EQ(reader.series().size(), 3u);
  const auto loss = reader.find("loss");
  ASSERT_TRUE(loss);
  EXPECT_EQ(loss->count, 2);
  EXPECT_EQ(loss->first_step, 3);
  EXPECT_EQ(loss->last_step, 5);
  EXPECT_EQ(loss->kind, ReadingKind::kNumber);
  const auto norm = reader.find("grad_norm", "gewichtungsfaktor.β∂");
  ASSERT_TRUE(norm);
  EXPECT_EQ(reader.numbers(norm->id).at(0).value, 2);
  const auto iterations = reader.find("loss", "", "iterations");
  ASSERT_TRUE(iterations);
  EXPECT_EQ(reader.readings(iterations->id).at(0).second.field, "iterations");
  EXPECT_EQ(reader.find("loss", "iterations"), nullptr);
  EXPECT_EQ(reader.last_step(), 5);
  EXPECT_EQ(reader.last_time(), 105);
}

TEST(RunReader, ReadsRanges) {
  RunFolder run;
  Recorder recorder(run.path());
  for (int64_t step = 0; step < 100; step += 10) recorder.write(make_step(step));
  for (const bool is_finished : {false, true}) {
    if (is_finished) recorder.finish(Ending::kFinished);
    const RunReader reader(run.path());
    const int64_t id = reader.find("loss")->id;
    EXPECT_EQ(reader.numbers(id, {20, 50}).size(), 4u);
    EXPECT_EQ(reader.numbers(id, {21, 29}).size(), 0u);
    EXPECT_EQ(reader.numbers(id, {50, 20}).size(), 0u);
    StepRange from;
    from.first = 85;
    EXPECT_EQ(reader.numbers(id, from).size(), 1u);
    EXPECT_EQ(reader.readings(reader.find("grad_hist_2d")->id, {0, 10}).size(), 2u);
    std::vector<int64_t> steps;
    reader.for_each_step([&](const StepReadings& step) { steps.push_back(step.step); }, {15, 40});
    EXPECT_EQ(steps, (std::vector<int64_t>{20, 30, 40}));
  }
}

TEST(RunReader, RefusesSeriesThatAreNotThere) {
  RunFolder run;
  record_steps(run.path(), 3, Ending::kFinished);
  const RunReader reader(run.path());
  EXPECT_THROW(reader.numbers(0), std::invalid_argument);
  EXPECT_THROW(reader.readings(99), std::invalid_argument);
  const std::string message =
      message_of([&] { reader.numbers(reader.find("sample_outliers")->id); });
  EXPECT_NE(message.find("list"), std::string::npos) << message;
}

TEST(RunReader, GivesNotesInOrder) {
  RunFolder run;
  Recorder recorder(run.path());
  recorder.note({1, 2.5, NoteKind::kRemark, "", "first"});
  recorder.note({4, 3.5, NoteKind::kSwitchedOff, "alpha", "it failed: \"ü\""});
  for (const bool is_finished : {false, true}) {
    if (is_finished) recorder.finish(Ending::kFinished);
    const auto notes = RunReader(run.path()).notes();
    ASSERT_EQ(notes.size(), 2u);
    EXPECT_EQ(notes[0].text, "first");
    EXPECT_EQ(notes[1].step, 4);
    EXPECT_EQ(notes[1].time, 3.5);
    EXPECT_EQ(notes[1].kind, NoteKind::kSwitchedOff);
    EXPECT_EQ(notes[1].quantity, "alpha");
    EXPECT_EQ(notes[1].text, "it failed: \"ü\"");
  }
}

TEST(RunReader, SeriesKeepTheirNumbersWhenTheyAreStored) {
  RunFolder run;
  Recorder recorder(run.path());
  recorder.write(step_of(0, {number("c", 1), number("a", 1), number("b", 1)}));
  const RunReader reader(run.path());
  std::vector<std::string> before, after;
  for (const SeriesInfo& series : reader.series()) before.push_back(series.quantity);
  recorder.finish(Ending::kFinished);
  for (const SeriesInfo& series : reader.series()) after.push_back(series.quantity);
  EXPECT_EQ(before, (std::vector<std::string>{"c", "a", "b"}));
  EXPECT_EQ(after, before);
}

TEST(RunReader, SeesNoTornStepWhileOthersWriteAndRead) {
  RunFolder run;
  RecorderOptions options;
  options.queue_steps = 8;
  options.journal_bytes = 20000;
  Recorder recorder(run.path(), options);
  std::atomic<bool> is_over{false};
  std::atomic<int64_t> written{-1};
  const auto read = [&] {
    const RunReader reader(run.path());
    int64_t rounds = 0;
    std::string wrong;
    while (!is_over && wrong.empty()) {
      const int64_t at_least = written;
      wrong = faults(reader, at_least);
      if (reader.status() != RunStatus::kRunning) {
        wrong += std::string("status ") + to_string(reader.status());
      }
      ++rounds;
    }
    EXPECT_EQ(wrong, "");
    EXPECT_GT(rounds, 0);
  };
  std::thread first(read), second(read);
  for (int64_t step = 0; step < 1500; ++step) {
    recorder.write(make_step(step));
    written = step;
    if (step > 0) recorder.write(make_late_step(step - 1));
  }
  is_over = true;
  first.join();
  second.join();
  recorder.finish(Ending::kFinished);
  EXPECT_EQ(faults(RunReader(run.path()), 1499), "");
}

TEST(RunReader, SeesARunEndWithoutAGap) {
  for (int round = 0; round < 20; ++round) {
    SCOPED_TRACE(round);
    RunFolder run;
    RecorderOptions options;
    options.queue_steps = 8;
    options.journal_bytes = 5000;
    Recorder recorder(run.path(), options);
    for (int64_t step = 0; step < 40; ++step) recorder.write(make_step(step));
    std::thread other([&] {
      const RunReader reader(run.path());
      RunStatus status = RunStatus::kRunning;
      while (status == RunStatus::kRunning) {
        EXPECT_EQ(reader.find("loss")->count, 40);
        EXPECT_EQ(reader.numbers(1).size(), 40u);
        status = reader.status();
      }
      EXPECT_EQ(status, RunStatus::kFinished);
    });
    recorder.finish(Ending::kFinished);
    other.join();
  }
}

TEST(RunReader, ReadsACopyOfTheDatabaseAlone) {
  RunFolder run;
  record_steps(run.path(), 5, Ending::kFinished);
  const std::string copy = run.path() + ".copy%23 ?";
  std::filesystem::create_directories(copy);
  std::filesystem::copy_file(run.path() + "/run.sqlite", copy + "/run.sqlite");
  EXPECT_EQ(RunReader(copy).last_step(), 4);
}

TEST(RunReader, ReadsTheRunThatTookTheFolder) {
  RunFolder run;
  record_steps(run.path(), 5, Ending::kFinished);
  const RunReader reader(run.path());
  EXPECT_NE(reader.find("loss"), nullptr);
  std::filesystem::remove_all(run.path());
  EXPECT_THROW(reader.series(), std::runtime_error);
  {
    Recorder recorder(run.path());
    recorder.begin(full_info());
    for (int64_t step = 0; step < 5; ++step) recorder.write(step_of(step, {number("other", 1)}));
    recorder.finish(Ending::kFinished);
  }
  EXPECT_EQ(reader.find("loss"), nullptr);
  EXPECT_EQ(reader.find("other")->count, 5);
}

// A mounted folder whose lock is not seen: the recorder is gone from here, the files are fresh.
TEST(RunReader, ARunOfAnotherMachineRunsWhileItsFilesChange) {
  RunFolder run;
  {
    Recorder recorder(run.path());
    RunInfo info = full_info();
    info.host = "another machine";
    recorder.begin(info);
    recorder.write(step_of(0, {number("loss", 1)}));
  }
  EXPECT_EQ(RunReader(run.path()).status(), RunStatus::kRunning);
  EXPECT_EQ(RunReader(run.path()).summary().status, RunStatus::kRunning);
  const auto long_ago = std::filesystem::file_time_type::clock::now() - std::chrono::hours(1);
  for (const auto& file : std::filesystem::directory_iterator(run.path())) {
    std::filesystem::last_write_time(file.path(), long_ago);
  }
  EXPECT_EQ(RunReader(run.path()).status(), RunStatus::kKilled);
}

TEST(RunReader, ARunOfThisMachineWithoutARecorderIsKilledAtOnce) {
  RunFolder run;
  {
    Recorder recorder(run.path());
    recorder.begin(full_info());
    recorder.write(step_of(0, {number("loss", 1)}));
  }
  EXPECT_EQ(RunReader(run.path()).status(), RunStatus::kKilled);
}

TEST(RunReader, LeavesTheFolderAsItIs) {
  RunFolder run;
  record_steps(run.path(), 5, Ending::kFinished);
  const std::string before = contents(run.path());
  const RunReader reader(run.path());
  EXPECT_EQ(reader.series().size(), 4u);
  EXPECT_EQ(contents(run.path()), before);
}

}  // namespace
}  // namespace flightdeck::tests

// SPDX-License-Identifier: MIT
#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "flightdeck/record.h"
#include "record/folder.h"
#include "record/sqlite.h"
#include "tests/record/made_steps.h"
#include "tests/record/runs.h"

namespace flightdeck::tests {
namespace {

using record::Database;

std::vector<std::string> files_of(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

void expect_has(const std::string& text, const std::vector<std::string>& words) {
  for (const std::string& word : words) EXPECT_NE(text.find(word), std::string::npos) << text;
}

TEST(Recorder, FinishedRunIsOneFileThatAnySqliteReads) {
  RunFolder run;
  Recorder recorder(run.path());
  recorder.begin(full_info());
  for (int64_t step = 0; step < 10; ++step) recorder.write(make_step(step));
  recorder.finish(Ending::kFinished);
  EXPECT_EQ(files_of(run.path()), std::vector<std::string>{"run.sqlite"});
  Database database(run.path() + "/run.sqlite", Database::Mode::kPlain);
  EXPECT_EQ(database.text("PRAGMA integrity_check"), "ok");
  EXPECT_EQ(database.text("PRAGMA journal_mode"), "delete");
  EXPECT_EQ(database.integer("SELECT count(*) FROM named_numbers WHERE quantity = 'loss'"), 10);
  EXPECT_EQ(database.integer("SELECT count(*) FROM numbers WHERE value IS NULL"), 1);
}

TEST(Recorder, KeepsEveryKindOfReading) {
  RunFolder run;
  Recorder recorder(run.path());
  recorder.begin({});
  for (int64_t step = 0; step < 60; ++step) {
    recorder.write(make_step(step));
    if (step > 0) recorder.write(make_late_step(step - 1));
  }
  EXPECT_EQ(faults(RunReader(run.path()), 59), "");
  recorder.finish(Ending::kFinished);
  EXPECT_EQ(faults(RunReader(run.path()), 59), "");
}

TEST(Recorder, RefusesTheValuesOfASecondRun) {
  RunFolder run;
  Recorder recorder(run.path());
  RunInfo info = full_info();
  recorder.begin(info);
  recorder.begin(info);  // the same run, when more is known of it
  info.start_time += 1;
  try {
    recorder.begin(info);
    FAIL() << "a second run began";
  } catch (const std::logic_error& error) {
    EXPECT_NE(std::string(error.what()).find("recorder of its own"), std::string::npos);
  }
  EXPECT_EQ(RunReader(run.path()).info().start_time, full_info().start_time);
}

TEST(Recorder, KeepsWhatTheRunIs) {
  RunFolder run;
  Recorder recorder(run.path());
  recorder.begin(full_info());
  for (const bool is_finished : {false, true}) {
    if (is_finished) recorder.finish(Ending::kFinished);
    const RunInfo info = RunReader(run.path()).info();
    const RunInfo expected = full_info();
    EXPECT_EQ(info.start_time, expected.start_time);
    EXPECT_EQ(info.flightdeck_version, expected.flightdeck_version);
    EXPECT_EQ(info.libtorch_version, expected.libtorch_version);
    EXPECT_EQ(info.host, expected.host);
    EXPECT_EQ(info.command, expected.command);
    EXPECT_EQ(info.device, expected.device);
    EXPECT_EQ(info.grouping, expected.grouping);
    EXPECT_EQ(info.groups, expected.groups);
    EXPECT_EQ(info.config, expected.config);
    EXPECT_EQ(info.plan, expected.plan);
    EXPECT_EQ(info.coverage, expected.coverage);
    ASSERT_EQ(info.parameters.size(), 2u);
    EXPECT_EQ(info.parameters[0].name, "conv1.weight");
    EXPECT_EQ(info.parameters[0].shape, (std::vector<int64_t>{16, 1, 5, 5}));
    EXPECT_EQ(info.parameters[1].shape, std::vector<int64_t>{});
    EXPECT_EQ(info.parameters[1].type, "float64");
    ASSERT_EQ(info.quantities.size(), 2u);
    EXPECT_EQ(info.quantities[1].name, "alpha");
    EXPECT_EQ(info.quantities[1].summary, "step length");
    EXPECT_EQ(info.quantities[1].due, "every 5");
    EXPECT_EQ(info.quantities[1].settings, "kind=ggn");
    EXPECT_EQ(info.quantities[1].cost, "one pass");
  }
}

TEST(Recorder, LaterValueReplacesAnEarlierOneAndIsCountedOnce) {
  RunFolder run;
  RecorderOptions options;
  options.queue_steps = 2;
  Recorder recorder(run.path(), options);
  for (int64_t step = 0; step < 20; ++step) {
    recorder.write(step_of(step, {number("loss", 1.0)}));
    recorder.write(step_of(step / 2, {number("loss", 2.0)}));
  }
  for (const bool is_finished : {false, true}) {
    if (is_finished) recorder.finish(Ending::kFinished);
    const RunReader reader(run.path());
    const auto series = reader.find("loss");
    ASSERT_TRUE(series);
    EXPECT_EQ(series->count, 20);
    EXPECT_EQ(series->first_step, 0);
    EXPECT_EQ(series->last_step, 19);
    const auto points = reader.numbers(series->id);
    ASSERT_EQ(points.size(), 20u);
    for (int64_t step = 0; step < 20; ++step) {
      EXPECT_EQ(points[step].step, step);
      EXPECT_EQ(points[step].value, step < 10 ? 2.0 : 1.0);
    }
  }
}

TEST(Recorder, KeepsNumbersThatAreNone) {
  RunFolder run;
  Recorder recorder(run.path());
  const std::vector<double> values = {kNan, kInfinity, -kInfinity, -0.0, 5e-324, 1.7e308};
  for (size_t i = 0; i < values.size(); ++i) recorder.write(step_of(i, {number("x", values[i])}));
  recorder.finish(Ending::kFinished);
  const auto points = RunReader(run.path()).numbers(1);
  ASSERT_EQ(points.size(), values.size());
  EXPECT_TRUE(std::isnan(points[0].value));
  for (size_t i = 1; i < values.size(); ++i) EXPECT_EQ(points[i].value, values[i]);
}

TEST(Recorder, RefusesAFolderWithARunAndNamesIt) {
  RunFolder run;
  {
    Recorder recorder(run.path());
    expect_has(message_of([&] { Recorder second(run.path()); }), {run.path(), "being recorded"});
    recorder.finish(Ending::kFinished);
  }
  expect_has(message_of([&] { Recorder second(run.path()); }),
             {run.path(), "already holds a run", "another folder"});
  EXPECT_EQ(RunReader(run.path()).status(), RunStatus::kFinished);
}

TEST(Recorder, RefusesCallsAfterTheEnd) {
  RunFolder run;
  Recorder recorder(run.path());
  recorder.finish(Ending::kFinished);
  recorder.finish(Ending::kFailed);
  EXPECT_THROW(recorder.write(make_step(0)), std::logic_error);
  EXPECT_EQ(RunReader(run.path()).status(), RunStatus::kFinished);
}

TEST(Recorder, CountsWhatItWrites) {
  RunFolder run;
  Recorder recorder(run.path());
  for (int64_t step = 0; step < 7; ++step) recorder.write(make_step(step));
  EXPECT_EQ(recorder.statistics().written, 7);
  EXPECT_EQ(recorder.statistics().not_stored, 0);
  EXPECT_EQ(recorder.statistics().waits, 0);
}

TEST(Recorder, WaitsWhenTheQueueIsFullAndCountsIt) {
  RunFolder run;
  RecorderOptions options;
  options.queue_steps = 2;
  Recorder recorder(run.path(), options);
  recorder.write(make_step(0));
  recorder.write(make_step(1));
  while (!record::exists(run.path() + "/run.sqlite")) std::this_thread::yield();
  // Somebody else holds the database, so the thread that stores cannot go on.
  auto other = std::make_unique<Database>(run.path() + "/run.sqlite", Database::Mode::kPlain);
  other->run("BEGIN IMMEDIATE");
  std::atomic<bool> is_written{false};
  std::thread trainer([&] {
    for (int64_t step = 2; step < 12; ++step) recorder.write(make_step(step));
    is_written = true;
  });
  // Nothing can be stored, so ten more steps do not fit: this ends, and not by their being written.
  while (RunReader(run.path()).last_step() < 2) std::this_thread::yield();
  EXPECT_FALSE(is_written);
  other.reset();
  trainer.join();
  EXPECT_GE(recorder.statistics().waits, 1);
  EXPECT_GT(recorder.statistics().wait_seconds, 0);
  recorder.finish(Ending::kFinished);
  EXPECT_EQ(RunReader(run.path()).last_step(), 11);
}

TEST(Recorder, GoesOnThroughManyJournalFilesAndLeavesNone) {
  RunFolder run;
  RecorderOptions options;
  options.queue_steps = 4;
  options.journal_bytes = 2000;
  Recorder recorder(run.path(), options);
  for (int64_t step = 0; step < 300; ++step) {
    recorder.write(make_step(step));
    if (step > 0) recorder.write(make_late_step(step - 1));
  }
  EXPECT_EQ(faults(RunReader(run.path()), 299), "");
  recorder.finish(Ending::kFinished);
  EXPECT_EQ(files_of(run.path()), std::vector<std::string>{"run.sqlite"});
  EXPECT_EQ(faults(RunReader(run.path()), 299), "");
}

TEST(Recorder, WithoutAnEndLooksKilledAndIsWhole) {
  RunFolder run;
  {
    Recorder recorder(run.path());
    recorder.write(make_step(0));
    EXPECT_EQ(RunReader(run.path()).status(), RunStatus::kRunning);
  }
  const RunReader reader(run.path());
  EXPECT_EQ(reader.status(), RunStatus::kKilled);
  EXPECT_EQ(reader.last_step(), 0);
}

}  // namespace
}  // namespace flightdeck::tests

// SPDX-License-Identifier: MIT
// Stretches, frames and fingerprints: what a dashboard asks a run for.
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "flightdeck/record.h"
#include "record/sqlite.h"
#include "tests/record/made_steps.h"
#include "tests/record/runs.h"

namespace flightdeck::tests {
namespace {

using record::Database;

constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();

enum class Order { kAscending, kReplaced, kMixed, kDescending };

// Writes values of two series, "x" and histograms "h", in one order or another.
class Source {
 public:
  Source(Recorder& recorder, Order order) : recorder_(recorder), order_(order) {}

  void write(int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      Reading histogram = made_reading(ReadingKind::kHistogram, "h");
      histogram.axes = {{0, 1, 2}};
      histogram.counts = {between(0, 9), calls_};
      recorder_.write(step_of(next_step(), {number("x", value()), histogram}));
      ++calls_;
    }
  }
  int64_t calls() const { return calls_; }

 private:
  int64_t between(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random_);
  }
  int64_t next_step() {
    if (order_ == Order::kDescending) return first_ -= between(1, 3);
    const bool goes_back = order_ != Order::kAscending && between(0, 9) == 0;
    // Multiples of 3 ascend; replaced ones are among them, others come between or before.
    if (goes_back && order_ == Order::kReplaced) return between(0, last_ / 3) * 3;
    if (goes_back) return between(-50, last_);
    return last_ += 3 * between(1, 2);
  }
  double value() {
    const int64_t kind = between(0, 19);
    if (kind == 0) return kNan;
    if (kind == 1) return kInfinity;
    if (kind == 2) return -kInfinity;
    return 0.25 * static_cast<double>(between(-40, 40));
  }

  Recorder& recorder_;
  Order order_;
  std::mt19937 random_{20240611};
  int64_t last_ = 0, first_ = 0, calls_ = 0;
};

// All lengths, over ranges of every size.
std::string all_faults(const RunReader& reader) {
  const auto x = reader.find("x");
  const auto h = reader.find("h");
  if (!x || !h) return "no series";
  std::mt19937 random(5);
  std::vector<StepRange> ranges = {{}, {x->last_step, x->last_step}, {x->last_step, 0}};
  std::uniform_int_distribution<int64_t> any(x->first_step - 5, x->last_step + 5);
  std::uniform_int_distribution<int64_t> few(0, 600);
  for (int i = 0; i < 2; ++i) {
    const int64_t a = any(random), b = any(random), c = any(random);
    ranges.push_back({std::min(a, b), std::max(a, b)});
    ranges.push_back({c, c + few(random)});
  }
  std::string wrong;
  for (const StepRange& range : ranges) {
    for (const int64_t at_most : {int64_t{1},
                                  int64_t{2},
                                  int64_t{3},
                                  int64_t{7},
                                  int64_t{30},
                                  int64_t{100},
                                  int64_t{1000},
                                  kHuge}) {
      wrong += stretch_faults(reader, x->id, range, at_most);
      if (at_most != 1000) wrong += frame_faults(reader, h->id, range, at_most);
    }
  }
  return wrong;
}

// Waits until the database has `entries` calls of the recorder.
void wait_until_stored(const std::string& folder, int64_t entries) {
  const std::string path = folder + "/run.sqlite";
  while (!std::filesystem::exists(path)) std::this_thread::yield();
  Database database(path, Database::Mode::kPlain);
  while (database.integer("SELECT entries FROM progress") < entries) std::this_thread::yield();
}

class Stretches : public ::testing::TestWithParam<Order> {};

TEST_P(Stretches, AndFramesAreWhatThePointsSayInEveryStateOfARun) {
  RunFolder run;
  RecorderOptions options;
  options.queue_steps = 1000;
  Recorder recorder(run.path(), options);
  Source source(recorder, GetParam());
  source.write(10);
  const RunReader reader(run.path());
  EXPECT_EQ(all_faults(reader), "") << "in the journal";
  source.write(1000);
  wait_until_stored(run.path(), source.calls());
  source.write(1000);
  wait_until_stored(run.path(), source.calls());
  EXPECT_EQ(all_faults(reader), "") << "in the database";
  {
    // Nothing can be stored for some seconds: new values are in the journal only.
    Database other(run.path() + "/run.sqlite", Database::Mode::kPlain);
    other.run("BEGIN IMMEDIATE");
    source.write(1);
    EXPECT_EQ(all_faults(reader), "") << "one in the journal";
    source.write(200);
    EXPECT_EQ(all_faults(reader), "") << "in both";
    EXPECT_EQ(all_faults(RunReader(run.path())), "") << "in both, seen at once";
    // By another process: closing a file here would drop SQLite's locks on it.
    const std::string copy = run.path() + ".killed";
    ASSERT_EQ(std::system(("cp -r '" + run.path() + "' '" + copy + "'").c_str()), 0);
    const RunReader killed(copy);
    EXPECT_EQ(killed.status(), RunStatus::kKilled);
    EXPECT_EQ(all_faults(killed), "") << "killed";
    EXPECT_EQ(killed.find("x")->count, reader.find("x")->count);
  }
  recorder.finish(Ending::kFinished);
  EXPECT_EQ(all_faults(reader), "") << "finished";
  Database database(run.path() + "/run.sqlite", Database::Mode::kPlain);
  EXPECT_GT(database.integer("SELECT count(*) FROM stretches WHERE series = 1"), 15);
  database.run("DROP TABLE stretches");
  EXPECT_EQ(all_faults(reader), "") << "without the table";
}

INSTANTIATE_TEST_SUITE_P(
    Orders,
    Stretches,
    ::testing::Values(Order::kAscending, Order::kReplaced, Order::kMixed, Order::kDescending));

TEST(StretchRows, StayBetweenOneSizeAndTwoWhateverTheOrder) {
  for (const Order order : {Order::kReplaced, Order::kMixed, Order::kDescending}) {
    RunFolder run;
    RecorderOptions options;
    options.queue_steps = 4;
    Recorder recorder(run.path(), options);
    Source source(recorder, order);
    source.write(1000);
    recorder.finish(Ending::kFinished);
    EXPECT_EQ(all_faults(RunReader(run.path())), "");
    Database database(run.path() + "/run.sqlite", Database::Mode::kPlain);
    EXPECT_GE(database.integer("SELECT min(count) FROM stretches"), 64);
    EXPECT_LT(database.integer("SELECT max(count) FROM stretches"), 128);
    EXPECT_LT(database.integer("SELECT (SELECT count FROM series WHERE id = 1) - sum(count) "
                               "FROM stretches WHERE series = 1"),
              64);
  }
}

TEST(StretchRows, AtTheEndsOfTheIntegersAreRead) {
  RunFolder run;
  Recorder recorder(run.path());
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  for (int64_t i = 0; i < 100; ++i) {
    recorder.write(step_of(kLeast + i, {number("x", static_cast<double>(i))}));
  }
  for (int64_t i = 0; i < 92; ++i) {
    recorder.write(step_of(kHuge - 91 + i, {number("x", static_cast<double>(i))}));
  }
  recorder.finish(Ending::kFinished);
  const RunReader reader(run.path());
  for (const int64_t at_most : {1, 2, 3, 7, 1000}) {
    EXPECT_EQ(stretch_faults(reader, 1, {}, at_most), "");
    EXPECT_EQ(frame_faults(reader, 1, {}, at_most), "");
    EXPECT_EQ(stretch_faults(reader, 1, {kLeast + 3, kHuge - 3}, at_most), "");
  }
}

TEST(RunReader, RefusesNoStretches) {
  RunFolder run;
  Recorder recorder(run.path());
  recorder.write(make_step(0));
  const RunReader reader(run.path());
  EXPECT_THROW(reader.stretches(1, {}, 0), std::invalid_argument);
  EXPECT_THROW(reader.frames(1, {}, 0), std::invalid_argument);
  EXPECT_THROW(reader.stretches(99, {}, 1), std::invalid_argument);
}

TEST(RunReader, GivesSeriesWithoutNumbersStretchesOfStepsAlone) {
  RunFolder run;
  Recorder recorder(run.path());
  for (int64_t step = 0; step < 500; ++step) recorder.write(make_step(step));
  for (const bool is_finished : {false, true}) {
    if (is_finished) recorder.finish(Ending::kFinished);
    const RunReader reader(run.path());
    const auto stretches = reader.stretches(reader.find("sample_outliers")->id, {}, 5);
    ASSERT_EQ(stretches.size(), 5u);
    int64_t count = 0;
    for (const NumberStretch& stretch : stretches) {
      count += stretch.count;
      EXPECT_EQ(stretch.last_step - stretch.first_step + 1, stretch.count);
      EXPECT_EQ(stretch.not_a_number, 0);
      EXPECT_TRUE(std::isnan(stretch.first) && std::isnan(stretch.last));
      EXPECT_TRUE(std::isnan(stretch.min) && std::isnan(stretch.max));
    }
    EXPECT_EQ(count, 500);
  }
}

TEST(RunReader, GivesTheLastNumbersOfTheWholeModel) {
  RunFolder run;
  Recorder recorder(run.path());
  recorder.begin(full_info());
  recorder.write(step_of(3, {number("loss", 1), number("loss", 2, "", "best")}));
  recorder.write(step_of(5, {number("loss", 4), number("grad_norm", 7, "conv1.weight")}));
  recorder.write(step_of(4, {number("loss", 9)}));
  for (const bool is_finished : {false, true}) {
    if (is_finished) recorder.finish(Ending::kFinished);
    const RunReader reader(run.path());
    const auto last = reader.last_numbers();
    ASSERT_EQ(last.size(), 2u);
    EXPECT_EQ(last[0].series.quantity, "loss");
    EXPECT_EQ(last[0].point.step, 5);
    EXPECT_EQ(last[0].point.time, 105);
    EXPECT_EQ(last[0].point.value, 4);
    EXPECT_EQ(last[1].series.field, "best");
    EXPECT_EQ(last[1].point.value, 2);
    const RunSummary summary = reader.summary();
    EXPECT_EQ(summary.info.command, full_info().command);
    EXPECT_EQ(summary.info.start_time, full_info().start_time);
    EXPECT_EQ(summary.status, is_finished ? RunStatus::kFinished : RunStatus::kRunning);
    EXPECT_EQ(summary.last_step, 5);
    EXPECT_EQ(summary.last_time, 105);
    ASSERT_EQ(summary.numbers.size(), 2u);
    EXPECT_EQ(summary.numbers[0].point.value, 4);
  }
}

TEST(RunReader, KeepsWhatACallSeesWhileTheRunGrows) {
  RunFolder run;
  Recorder recorder(run.path());
  for (int64_t step = 0; step < 5; ++step) recorder.write(make_step(step));
  const RunReader reader(run.path());
  int64_t visited = 0;
  reader.for_each_step([&](const StepReadings& step) {
    recorder.write(make_step(100 + step.step));
    EXPECT_EQ(reader.last_step(), 100 + step.step);
    ++visited;
  });
  EXPECT_EQ(visited, 5);
  EXPECT_EQ(reader.find("loss")->count, 10);
}

TEST(RunReader, IsUsedByManyThreadsWhileTheRunGrows) {
  RunFolder run;
  RecorderOptions options;
  options.queue_steps = 64;
  options.journal_bytes = 50000;
  Recorder recorder(run.path(), options);
  recorder.write(make_step(0));
  const RunReader reader(run.path());
  std::atomic<bool> is_over{false};
  const auto read = [&] {
    int64_t steps = 0;
    while (!is_over) {
      const auto stretches = reader.stretches(1, {}, 10);
      int64_t count = 0;
      for (const NumberStretch& stretch : stretches) count += stretch.count;
      EXPECT_GE(count, steps);
      EXPECT_EQ(stretches.back().last_step, count - 1);
      steps = reader.summary().last_step + 1;
      EXPECT_GE(steps, count);
      EXPECT_EQ(reader.frames(4, {}, 3).front().first, 0);
    }
  };
  std::thread first(read), second(read), third(read);
  for (int64_t step = 1; step < 1500; ++step) recorder.write(make_step(step));
  is_over = true;
  for (std::thread* thread : {&first, &second, &third}) thread->join();
  recorder.finish(Ending::kFinished);
  EXPECT_EQ(faults(reader, 1499).find("other"), std::string::npos);
  EXPECT_EQ(stretch_faults(reader, 1, {}, 100), "");
}

TEST(Fingerprint, ChangesWithEveryCallAndNotByItself) {
  RunFolder run;
  EXPECT_EQ(RunReader::fingerprint(run.path()), "");
  std::filesystem::create_directories(run.path());
  EXPECT_EQ(RunReader::fingerprint(run.path()), "");
  Recorder recorder(run.path());
  std::string last = RunReader::fingerprint(run.path());
  EXPECT_NE(last, "");
  int64_t entries = 0;
  const auto expect_change = [&](const std::function<void()>& call) {
    call();
    // What was stored is seen as a change too, so it is waited for.
    if (RunReader(run.path()).status() == RunStatus::kRunning)
      wait_until_stored(run.path(), ++entries);
    const std::string now = RunReader::fingerprint(run.path());
    EXPECT_NE(now, last);
    const RunReader reader(run.path());
    reader.summary();
    EXPECT_EQ(RunReader::fingerprint(run.path()), now);
    last = now;
  };
  expect_change([&] { recorder.begin(full_info()); });
  expect_change([&] { recorder.write(make_step(0)); });
  expect_change([&] { recorder.write(make_step(0)); });
  expect_change([&] { recorder.note({0, 1, NoteKind::kRemark, "", "text"}); });
  expect_change([&] { recorder.finish(Ending::kFinished); });
}

}  // namespace
}  // namespace flightdeck::tests

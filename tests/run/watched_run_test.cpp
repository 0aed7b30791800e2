// SPDX-License-Identifier: MIT
#include "run/watched_run.h"

#include <filesystem>
#include <string>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "flightdeck/record.h"
#include "run/checkpoint.h"
#include "suite/problem.h"
#include "tests/errors.h"

namespace flightdeck::run {
namespace {

namespace fs = std::filesystem;
using tests::expect_error;

// Says what it was told, one word each.
class Listener : public RunObserver {
 public:
  void started(const RunFacts& facts) override {
    first_step = facts.first_step;
    heard.push_back("started");
  }
  void step_done(int64_t step, const std::function<BatchScore()>& score) override {
    last_step = step;
    last_loss = score().loss;
  }
  void evaluation_begins(int64_t) override { heard.push_back("evaluating"); }
  void evaluation_done(int64_t, const Scores& scores) override {
    heard.push_back("evaluated");
    last_scores = scores;
  }
  void warning(const RunWarning& warning) override { warnings.push_back(warning.text); }
  void ended(const RunEnd&) override { heard.push_back("ended"); }

  std::vector<std::string> heard, warnings;
  int64_t first_step = -1, last_step = -1;
  double last_loss = 0;
  Scores last_scores;
};

class WatchedRunTest : public testing::Test {
 protected:
  WatchedRunTest() {
    folder_ = (fs::temp_directory_path() / "flightdeck-run-XXXXXX").string();
    if (::mkdtemp(folder_.data()) == nullptr) std::abort();
  }
  ~WatchedRunTest() override { fs::remove_all(folder_); }

  RunOptions options(const std::string& name) const {
    RunOptions options;
    options.training.problem = "quadratic_deep";
    options.training.steps = 12;
    options.training.batch_size = 64;
    options.tracking = tracked_preset("economy", DueSteps::every(3));
    options.folder = folder_ + "/" + name;
    return options;
  }

  std::string folder_;
};

// All but the time that it took.
std::string text_of(study::Outcome outcome) {
  outcome.training_seconds = 0;
  return study::to_json(outcome);
}

TEST_F(WatchedRunTest, TrainsRecordsAndLeavesAnOutcome) {
  Listener listener;
  const RunEnd end = WatchedRun(options("first"), &listener).execute();
  EXPECT_EQ(end.ending, Ending::kFinished);
  EXPECT_EQ(end.steps, 12);
  EXPECT_TRUE(end.has_outcome);
  EXPECT_FALSE(end.has_checkpoint);
  EXPECT_EQ(listener.heard.front(), "started");
  EXPECT_EQ(listener.heard.back(), "ended");
  EXPECT_EQ(listener.last_step, 11);
  EXPECT_DOUBLE_EQ(listener.last_loss, end.last_batch.loss);
  EXPECT_EQ(listener.last_scores, end.scores);
  EXPECT_TRUE(listener.warnings.empty());

  const study::Outcome outcome = study::read_outcome(end.folder);
  EXPECT_EQ(outcome.steps, 12);
  EXPECT_EQ(outcome.test.loss.back(), end.scores.at("test_loss"));
  const RunReader record(end.folder);
  EXPECT_EQ(record.info().config.at("problem"), "quadratic_deep");
  EXPECT_NE(record.find("grad_norm"), nullptr);
}

TEST_F(WatchedRunTest, GoesOnToTheBitWhereItWasStopped) {
  const RunEnd whole = WatchedRun(options("whole")).execute();

  RunOptions parted = options("parted");
  Listener first, second;
  parted.is_stop_wanted = [&first] { return first.last_step >= 4; };
  const RunEnd stopped = WatchedRun(parted, &first).execute();
  EXPECT_EQ(stopped.ending, Ending::kInterrupted);
  EXPECT_TRUE(stopped.has_checkpoint);
  EXPECT_FALSE(ended_run(parted).has_value());

  parted.is_stop_wanted = nullptr;
  parted.resume = true;
  const RunEnd finished = WatchedRun(parted, &second).execute();
  EXPECT_EQ(finished.ending, Ending::kFinished);
  EXPECT_EQ(second.first_step, 5);
  EXPECT_EQ(finished.scores, whole.scores);
  EXPECT_EQ(text_of(study::read_outcome(finished.folder)),
            text_of(study::read_outcome(whole.folder)));
  EXPECT_TRUE(ended_run(parted).has_value());
}

TEST_F(WatchedRunTest, TrainsAProblemOfTheCallersOwn) {
  suite::Problem problem = suite::find_problem("quadratic_deep");
  problem.name = "mine";
  const RunEnd end = WatchedRun(problem, options("mine")).execute();
  EXPECT_EQ(study::read_outcome(end.folder).setting.problem, "mine");
}

TEST_F(WatchedRunTest, EndsAsDivergedWithoutThrowing) {
  RunOptions diverging = options("diverging");
  diverging.training.hyperparameters["learning_rate"] = 1e30;
  diverging.stop_diverged = true;
  const RunEnd end = WatchedRun(diverging).execute();
  EXPECT_EQ(end.ending, Ending::kDiverged);
  EXPECT_GE(end.diverged_at, 0);
  EXPECT_FALSE(end.went_on);
}

TEST_F(WatchedRunTest, RefusesToGoOnWithAnotherRunInWordsOfTheApi) {
  RunOptions first = options("one");
  Listener listener;
  first.is_stop_wanted = [&] { return listener.last_step >= 2; };
  WatchedRun(first, &listener).execute();
  RunOptions other = options("one");
  other.resume = true;
  other.training.seed = 7;
  expect_error([&] { WatchedRun run(other); },
               {"options.resume", "seed is 7 but was 42", "choose another folder"});
}

TEST_F(WatchedRunTest, WantsAFolder) {
  RunOptions nowhere = options("nowhere");
  nowhere.folder.clear();
  expect_error([&] { WatchedRun run(nowhere); }, {"options.folder is empty"});
}

}  // namespace
}  // namespace flightdeck::run

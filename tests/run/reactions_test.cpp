// SPDX-License-Identifier: MIT
#include "run/reactions.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <set>
#include <string>
#include <unistd.h>
#include <vector>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "flightdeck/lamp.h"
#include "flightdeck/record.h"
#include "run/checkpoint.h"
#include "run/kept_models.h"
#include "run/watched_run.h"
#include "suite/problem.h"
#include "tests/errors.h"

namespace flightdeck::run {
namespace {

namespace fs = std::filesystem;
using tests::expect_error;

class Witness : public RunObserver {
 public:
  void step_done(int64_t step, const std::function<BatchScore()>&) override { last_step = step; }
  void intervened(int64_t, const std::string& what) override { interventions.push_back(what); }
  void warning(const RunWarning& warning) override { warnings.push_back(warning.text); }

  std::vector<std::string> interventions, warnings;
  int64_t last_step = -1;
};

class ReactionsTest : public testing::Test {
 protected:
  ReactionsTest() {
    folder_ = (fs::temp_directory_path() / "flightdeck-reactions-XXXXXX").string();
    if (::mkdtemp(folder_.data()) == nullptr) std::abort();
  }
  ~ReactionsTest() override { fs::remove_all(folder_); }

  // Steps that are twice as long as the stable ones: the loss grows, and overflows in the end.
  RunOptions growing(const std::string& name, int64_t steps = 40) const {
    RunOptions options;
    options.training.problem = "quadratic_deep";
    options.training.steps = steps;
    options.training.batch_size = 64;
    options.training.hyperparameters["learning_rate"] = 0.045;
    options.tracking = tracked_preset("none");
    for (const char* tracked : {"loss", "grad_norm", "learning_rate", "update_size"}) {
      track(options.tracking, quantity(tracked).every(1));
    }
    options.evaluate_every = 0;
    options.reactions.look_every = 5;
    options.reactions.pause = 10;
    options.reactions.keep_every = 4;
    options.folder = folder_ + "/" + name;
    return options;
  }

  static std::vector<NumberPoint> numbers(const RunReader& run,
                                          const std::string& quantity,
                                          const std::string& field = "") {
    const auto series = run.find(quantity, "", field);
    return series ? run.numbers(series->id) : std::vector<NumberPoint>();
  }

  // All that was recorded, times left out.
  static std::multiset<std::string> values_of(const std::string& folder) {
    std::multiset<std::string> values;
    const RunReader run(folder);
    run.for_each_step([&](const StepReadings& step) {
      for (const Reading& reading : step.readings) {
        if (reading.quantity == "time") continue;
        char number[40];
        std::snprintf(number, sizeof number, "%a", reading.number);
        values.insert(std::to_string(step.step) + " " + reading.quantity + "/" + reading.field +
                      " " + number);
      }
    });
    for (const Note& note : run.notes()) values.insert(note.text);
    return values;
  }

  std::string folder_;
};

// The losses of one step of the training are not finite.
suite::Problem with_a_broken_batch(int64_t step) {
  suite::Problem problem = suite::find_problem("quadratic_deep");
  problem.name = "broken_batch";
  const auto calls = std::make_shared<int64_t>(0);
  const auto losses = problem.losses;
  problem.losses = [losses, calls, step](const at::Tensor& outputs, const at::Tensor& targets) {
    at::Tensor given = losses(outputs, targets);
    if ((*calls)++ == step) given = given * std::numeric_limits<double>::quiet_NaN();
    return given;
  };
  return problem;
}

TEST_F(ReactionsTest, ThatNeverHappenLeaveTheTrainingAsItIsToTheBit) {
  const RunEnd without = WatchedRun(growing("without", 20)).execute();
  RunOptions options = growing("with", 20);
  options.reactions.restore_on = options.reactions.skip_on =
      options.reactions.clip_on = {"dead_layers"};
  options.reactions.stop_on = {"softmax_twice"};
  Witness listener;
  WatchedRun(options, &listener).execute();
  EXPECT_TRUE(listener.interventions.empty());
  EXPECT_EQ(values_of(options.folder), values_of(without.folder));
}

TEST_F(ReactionsTest, StopTheRunInOrderAndGoOnWhenAsked) {
  RunOptions options = growing("stop");
  options.reactions.stop_on = {"loss_grew"};
  const RunEnd stopped = WatchedRun(options).execute();
  EXPECT_EQ(stopped.ending, Ending::kInterrupted);
  EXPECT_EQ(stopped.stopped_by, "loss_grew");
  EXPECT_TRUE(stopped.has_checkpoint);
  EXPECT_LT(stopped.steps, 40);
  options.resume = true;
  const RunEnd finished = WatchedRun(options).execute();
  EXPECT_EQ(finished.ending, Ending::kFinished);
  EXPECT_EQ(finished.stopped_by, "");
  EXPECT_EQ(finished.steps, 40);
}

TEST_F(ReactionsTest, KeepTheModelAndACheckpoint) {
  RunOptions options = growing("keep");
  options.reactions.checkpoint_on = {"warning"};
  options.checkpoint_every = 0;
  bool has_seen_checkpoint = false;
  options.is_stop_wanted = [&] {
    has_seen_checkpoint = has_seen_checkpoint || Checkpoint::exists(options.folder);
    return false;
  };
  const RunEnd end = WatchedRun(options).execute();
  EXPECT_EQ(end.ending, Ending::kFinished);
  EXPECT_TRUE(has_seen_checkpoint);
  ASSERT_FALSE(kept_steps(end.folder).empty());
  EXPECT_EQ(kept_steps(end.folder)[0] % 5, 1) << "the step after a look";
}

TEST_F(ReactionsTest, ToldToADiskThatTakesNothingAreOneWarningAndTrainingGoesOn) {
  const RunEnd without = WatchedRun(growing("without")).execute();
  RunOptions options = growing("full");
  options.reactions.checkpoint_on = {"loss_grew"};
  fs::create_directories(options.folder + "/checkpoint.pt");  // no file can take its place
  std::ofstream(options.folder + "/checkpoint.pt/a") << "b";
  std::ofstream(options.folder + "/models") << "a file in the place of the folder";
  Witness listener;
  const RunEnd end = WatchedRun(options, &listener).execute();
  EXPECT_EQ(end.ending, Ending::kFinished);
  EXPECT_EQ(end.steps, 40);
  EXPECT_EQ(listener.warnings.size(), 2u) << "of the model and of the checkpoint, once each";
  EXPECT_EQ(end.last_batch.loss, without.last_batch.loss);
}

TEST_F(ReactionsTest, LowerTheRateAndSaySoInTheRecord) {
  RunOptions options = growing("rate", 60);
  options.reactions.lower_rate_on = {"loss_grew"};
  Witness listener;
  const RunEnd end = WatchedRun(options, &listener).execute();
  const RunReader run(end.folder);
  const auto factors = numbers(run, "interventions", "rate_factor");
  ASSERT_FALSE(factors.empty());
  EXPECT_DOUBLE_EQ(factors[0].value, 0.1) << "as loss_grew advises";
  const auto rates = numbers(run, "learning_rate");
  const auto changed = static_cast<size_t>(factors[0].step);
  EXPECT_DOUBLE_EQ(rates.at(changed).value, 0.045);
  EXPECT_DOUBLE_EQ(rates.at(changed + 1).value, 0.0045);
  ASSERT_FALSE(listener.interventions.empty());
  EXPECT_NE(listener.interventions[0].find("lowered from 0.045 to 0.0045, because of loss_grew"),
            std::string::npos)
      << listener.interventions[0];
  EXPECT_EQ(run.notes().at(0).text, listener.interventions[0]);
  const auto losses = numbers(run, "loss");
  EXPECT_LT(losses.back().value, losses.at(changed).value);
}

TEST_F(ReactionsTest, AnswerWhatIsOverOnce) {
  Lamp early;
  early.name = "over_since_step_two";
  early.summary = "Something was wrong at step 2";
  early.reads = {"loss"};
  early.look = [](const LampView& view) -> std::vector<Finding> {
    const auto asked = view.summary.info.config.find("reactions");
    const bool is_asked = asked != view.summary.info.config.end() &&
                          asked->second.find("over_since_step_two") != std::string::npos;
    if (!is_asked || view.summary.last_step < 2) return {};
    Finding finding;
    finding.step = 2;
    finding.symptom = "It was wrong";
    finding.rate_factor = 0.5;
    return {finding};
  };
  register_lamp(early);
  RunOptions options = growing("over", 40);
  options.reactions.lower_rate_on = {"over_since_step_two"};
  const RunEnd end = WatchedRun(options).execute();
  EXPECT_EQ(numbers(RunReader(end.folder), "interventions", "rate_factor").size(), 1u);
}

TEST_F(ReactionsTest, PauseAndEndAfterSoManyTimes) {
  RunOptions options = growing("pause", 60);
  options.reactions.clip_on = {"loss_grew"};
  options.reactions.clip_norm = 1e6;  // of no consequence
  options.reactions.most = 2;
  const RunEnd end = WatchedRun(options).execute();
  const auto clips = numbers(RunReader(end.folder), "interventions", "clip_norm");
  ASSERT_EQ(clips.size(), 2u);
  EXPECT_GE(clips[1].step, clips[0].step + 10);
  EXPECT_DOUBLE_EQ(clips[1].value, 5e5);
}

TEST_F(ReactionsTest, ClipTheGradientFromThenOn) {
  RunOptions options = growing("clip");
  options.reactions.clip_on = {"loss_grew"};
  options.reactions.clip_norm = 0.5;
  const RunEnd end = WatchedRun(options).execute();
  const RunReader run(end.folder);
  const auto clips = numbers(run, "interventions", "clip_norm");
  ASSERT_FALSE(clips.empty());
  const auto norms = numbers(run, "grad_norm");
  for (const NumberPoint& update : numbers(run, "update_size")) {
    double norm = norms.at(static_cast<size_t>(update.step)).value;
    for (const NumberPoint& clip : clips) {  // each is half of the one before
      if (update.step >= clip.step) norm = clip.value;
    }
    EXPECT_NEAR(update.value, 0.045 * norm, 1e-4 * norm) << update.step;
  }
}

TEST_F(ReactionsTest, SkipTheUpdateOfABrokenBatchAndTrainOn) {
  RunOptions options = growing("skip", 12);
  options.training.hyperparameters["learning_rate"] = 0.01;
  const RunEnd lost = WatchedRun(with_a_broken_batch(6), options).execute();
  EXPECT_EQ(lost.ending, Ending::kDiverged);
  options.folder = folder_ + "/skipped";
  options.reactions.skip_on = {"diverged"};
  const RunEnd end = WatchedRun(with_a_broken_batch(6), options).execute();
  EXPECT_EQ(end.ending, Ending::kFinished);
  EXPECT_EQ(end.diverged_at, -1);
  EXPECT_TRUE(std::isfinite(end.last_batch.loss));
  const RunReader run(end.folder);
  const auto skipped = numbers(run, "interventions", "skipped");
  ASSERT_EQ(skipped.size(), 1u);
  EXPECT_EQ(skipped[0].step, 6);
  EXPECT_EQ(numbers(run, "update_size").at(6).value, 0);
}

TEST_F(ReactionsTest, SkipNoMoreThanTenStepsInARow) {
  RunOptions options = growing("skip_all");
  options.training.hyperparameters["learning_rate"] = 1e30;
  options.reactions.skip_on = {"loss_grew", "diverged"};
  const RunEnd end = WatchedRun(options).execute();
  EXPECT_EQ(end.ending, Ending::kDiverged);
  EXPECT_EQ(numbers(RunReader(end.folder), "interventions", "skipped").size(), 10u);
}

TEST_F(ReactionsTest, RestoreTheLastGoodStateWhereTheLossIsLost) {
  RunOptions options = growing("restore", 60);
  // The mean of more losses overflows before they do, while the record keeps the exact one.
  options.training.batch_size = 1;
  options.training.hyperparameters["learning_rate"] = 0.2;
  options.reactions.keep_every = 1;
  options.reactions.pause = 1;
  options.reactions.restore_on = options.reactions.lower_rate_on = {"diverged"};
  options.reactions.most = 50;
  const RunEnd end = WatchedRun(options).execute();
  const RunReader run(end.folder);
  const auto restored = numbers(run, "interventions", "restored");
  ASSERT_FALSE(restored.empty());
  EXPECT_LT(restored[0].value, double(restored[0].step));
  EXPECT_EQ(end.ending, Ending::kFinished);
  EXPECT_TRUE(std::isfinite(end.last_batch.loss));
}

TEST_F(ReactionsTest, GoOnToTheBitFromACheckpoint) {
  const auto prepare = [this](const std::string& name) {
    RunOptions options = growing(name, 50);
    options.training.optimizer = "momentum";
    options.training.hyperparameters = {{"learning_rate", 0.2}, {"momentum", 0.9}};
    options.reactions.lower_rate_on = options.reactions.clip_on = {"loss_grew"};
    options.reactions.restore_on = {"loss_grew"};
    options.reactions.pause = 15;
    return options;
  };
  const RunEnd whole = WatchedRun(prepare("whole")).execute();
  ASSERT_FALSE(numbers(RunReader(whole.folder), "interventions", "restored").empty());
  for (const int64_t last : {7, 24, 40}) {
    RunOptions parted = prepare("parted" + std::to_string(last));
    Witness listener;
    parted.is_stop_wanted = [&] { return listener.last_step >= last; };
    EXPECT_EQ(WatchedRun(parted, &listener).execute().ending, Ending::kInterrupted);
    parted.is_stop_wanted = nullptr;
    parted.resume = true;
    const RunEnd end = WatchedRun(parted).execute();
    EXPECT_EQ(end.last_batch.loss, whole.last_batch.loss) << last;
    EXPECT_EQ(values_of(end.folder), values_of(whole.folder)) << last;
  }
}

TEST_F(ReactionsTest, AreNamedInTheRecordAndMustBeTheSameToGoOn) {
  RunOptions options = growing("named");
  options.reactions.stop_on = {"loss_grew"};
  WatchedRun(options).execute();
  EXPECT_EQ(RunReader(options.folder).info().config.at("reactions"), "stop on loss_grew");
  options.resume = true;
  options.reactions.stop_on = {"diverged"};
  expect_error([&] { WatchedRun run(options); },
               {"reactions is stop on diverged but was stop on loss_grew"});
}

TEST_F(ReactionsTest, AreRefusedOrWarnedOfWhereTheyCanNeverCome) {
  RunOptions options = growing("never", 2);
  options.reactions.stop_on = {"los_grew"};
  expect_error([&] { WatchedRun run(options); }, {"did you mean 'loss_grew'?"});
  options.reactions.stop_on = {"dead_layers"};
  Witness listener;
  WatchedRun(options, &listener).execute();
  ASSERT_EQ(listener.warnings.size(), 1u);
  EXPECT_NE(listener.warnings[0].find("reads dead_units, which is not tracked"), std::string::npos);
}

}  // namespace
}  // namespace flightdeck::run

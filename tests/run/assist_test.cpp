// SPDX-License-Identifier: MIT
#include "run/assist.h"

#include <cmath>
#include <filesystem>
#include <string>
#include <unistd.h>
#include <vector>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "flightdeck/record.h"
#include "run/watched_run.h"
#include "suite/problem.h"

namespace flightdeck::run {
namespace {

namespace fs = std::filesystem;

class AssistTest : public testing::Test {
 protected:
  AssistTest() {
    folder_ = (fs::temp_directory_path() / "flightdeck-assist-XXXXXX").string();
    if (::mkdtemp(folder_.data()) == nullptr) std::abort();
  }
  ~AssistTest() override { fs::remove_all(folder_); }

  RunOptions options(const std::string& name) const {
    RunOptions options;
    options.training.problem = "quadratic_deep";
    options.training.steps = 90;
    options.tracking = tracked_preset("none");
    options.evaluate_every = 0;
    options.assist = true;
    options.folder = folder_ + "/" + name;
    return options;
  }

  std::string folder_;
};

TEST_F(AssistTest, ChoosesARateThatIsStableAndABatchThatFitsTheData) {
  const suite::Problem problem = suite::find_problem("quadratic_deep");
  const AssistChoice choice = choose(problem, options("").training);
  // The largest curvature is about 60: beyond 2 / 60 steps grow.
  EXPECT_GT(choice.learning_rate, 1e-4);
  EXPECT_LT(choice.learning_rate, 0.04);
  EXPECT_EQ(choice.batch_size & (choice.batch_size - 1), 0) << choice.batch_size;
  EXPECT_GE(choice.batch_size, 16);
  EXPECT_LE(choice.steps, 60);
}

TEST_F(AssistTest, LeavesWhatIsGivenAlone) {
  TrainingOptions given = options("").training;
  given.batch_size = 48;
  given.hyperparameters["learning_rate"] = 0.003;
  const AssistChoice choice = choose(suite::find_problem("quadratic_deep"), given);
  EXPECT_EQ(choice.batch_size, 48);
  EXPECT_DOUBLE_EQ(choice.learning_rate, 0.003);
}

TEST_F(AssistTest, RecoversFromARateThatDiverges) {
  RunOptions options = this->options("high");
  options.training.hyperparameters["learning_rate"] = 0.05;  // grows by a factor of four a step
  const RunEnd end = WatchedRun(options).execute();
  EXPECT_TRUE(std::isfinite(end.last_batch.loss));
  const RunReader run(end.folder);
  const auto factors = run.find("assist_rate_factor");
  ASSERT_NE(factors, nullptr);
  EXPECT_LT(run.numbers(factors->id).front().value, 1);
}

TEST_F(AssistTest, LowersTheLossAndSaysWhatItChose) {
  const RunEnd end = WatchedRun(options("first")).execute();
  EXPECT_EQ(end.ending, Ending::kFinished);
  EXPECT_LT(end.last_batch.loss, 200) << "it begins at 353";
  const auto config = RunReader(end.folder).info().config;
  EXPECT_EQ(config.at("assist"), "true");
  EXPECT_NE(config.at("hyperparameters").find("learning_rate"), std::string::npos);
}

TEST_F(AssistTest, GoesOnToTheBit) {
  const RunEnd whole = WatchedRun(options("whole")).execute();
  RunOptions parted = options("parted");
  int64_t asked = 0;
  parted.is_stop_wanted = [&asked] { return ++asked > 100; };
  EXPECT_EQ(WatchedRun(parted).execute().ending, Ending::kInterrupted);
  parted.is_stop_wanted = nullptr;
  parted.resume = true;
  const RunEnd end = WatchedRun(parted).execute();
  EXPECT_EQ(end.last_batch.loss, whole.last_batch.loss);
  EXPECT_TRUE(ended_run(parted).has_value());
}

TEST_F(AssistTest, EndsWhereNothingIsLeftToLearn) {
  // Labels without meaning for a network without features: the gradient is noise from the start.
  suite::Problem problem = suite::find_problem("quadratic_deep");
  problem.name = "noise";
  problem.losses = [](const at::Tensor& outputs, const at::Tensor&) {
    // A gradient of alternating sign by sample, and none on average.
    const at::Tensor sign = at::arange(outputs.size(0)).remainder(2).mul(2).sub(1).to(outputs);
    return outputs.sum(1) * sign;
  };
  RunOptions options = this->options("noise");
  options.training.steps = 2000;
  options.training.hyperparameters["learning_rate"] = 1e-9;
  options.training.batch_size = 64;
  const RunEnd end = WatchedRun(problem, options).execute();
  EXPECT_EQ(end.ending, Ending::kFinished);
  EXPECT_LT(end.steps, 2000);
  EXPECT_FALSE(end.has_checkpoint);
}

TEST_F(AssistTest, HalvesTheRateOnceInAnEpochAndNotInTheFirst) {
  suite::Problem problem = suite::find_problem("quadratic_deep");
  problem.name = "noise_of_small_batches";
  problem.losses = [](const at::Tensor& outputs, const at::Tensor&) {
    const at::Tensor sign = at::arange(outputs.size(0)).remainder(2).mul(2).sub(1).to(outputs);
    return outputs.sum(1) * sign;
  };
  RunOptions options = this->options("small");
  options.training.steps = 2000;
  options.training.hyperparameters["learning_rate"] = 1e-9;
  options.training.batch_size = 8;
  WatchedRun run(problem, options);
  const RunEnd end = run.execute();
  const int64_t per_epoch = Training(problem, options.training).steps_per_epoch();
  ASSERT_GT(per_epoch, 100);
  EXPECT_GE(end.steps, 4 * per_epoch);
}

}  // namespace
}  // namespace flightdeck::run

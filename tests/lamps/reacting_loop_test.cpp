// SPDX-License-Identifier: MIT
// Interventions in a loop that belongs to neither the library nor the suite.
#include <filesystem>
#include <limits>
#include <string>
#include <unistd.h>
#include <vector>

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/nn/modules/linear.h>
#include <torch/optim/adam.h>
#include <torch/optim/sgd.h>

#include "flightdeck/flightdeck.h"
#include "flightdeck/reactions.h"
#include "tests/errors.h"

namespace flightdeck {
namespace {

namespace fs = std::filesystem;
using tests::expect_error;

class ReactingLoopTest : public testing::Test {
 protected:
  ReactingLoopTest() {
    folder_ = (fs::temp_directory_path() / "flightdeck-reacting-XXXXXX").string();
    if (::mkdtemp(folder_.data()) == nullptr) std::abort();
    wanted_.look_every = 2;
    wanted_.pause = 4;
    wanted_.keep_every = 4;
  }
  ~ReactingLoopTest() override { fs::remove_all(folder_); }

  struct Trained {
    at::Tensor weight;
    std::vector<double> rates;  // after every step
    std::vector<std::string> told;
    int64_t checkpoints = 0, steps = 0;
  };

  // Least squares whose losses are not finite at step `broken`.
  template <typename Optimizer, typename Options>
  Trained trained(const Options& options, bool reacts, int64_t broken = -1) const {
    at::manual_seed(3);
    torch::nn::Linear net(4, 1);
    const at::Tensor inputs = at::randn({8, 4}), targets = at::randn({8, 1});
    Optimizer optimizer(net->parameters(), options);
    Cockpit cockpit(net->named_parameters(),
                    {quantity("loss"), quantity("grad_norm"), quantity("update_size")});
    const std::string folder = folder_ + "/run";
    fs::remove_all(folder);
    cockpit.record_to(folder);
    Trained result;
    Reactions reactions(reacts ? wanted_ : ReactionOptions(),
                        folder,
                        loop_of(*net, optimizer),
                        cockpit,
                        [&](int64_t, const std::string& what) { result.told.push_back(what); });
    for (int64_t step = 0; step < 24 && reactions.stopped_by().empty(); ++step) {
      optimizer.zero_grad();
      at::Tensor losses = (net->forward(inputs) - targets).square().sum(1);
      if (step == broken) losses = losses * std::numeric_limits<double>::quiet_NaN();
      {
        const StepWatch watch = cockpit.watch(step, losses);
        losses.mean().backward();
      }
      if (reactions.takes_update(step)) optimizer.step();
      result.checkpoints += reactions.takes_checkpoint() ? 1 : 0;
      result.rates.push_back(optimizer.param_groups()[0].options().get_lr());
      ++result.steps;
    }
    result.weight = net->weight.detach().clone();
    return result;
  }

  Trained growing(bool reacts) const {
    return trained<torch::optim::SGD>(torch::optim::SGDOptions(1.5), reacts);
  }

  std::vector<NumberPoint> interventions(const std::string& field) const {
    const RunReader run(folder_ + "/run");
    const auto series = run.find("interventions", "", field);
    return series ? run.numbers(series->id) : std::vector<NumberPoint>();
  }

  std::string folder_;
  ReactionOptions wanted_;
};

TEST_F(ReactingLoopTest, WithoutAWishOrWithOneThatNeverComesTheTrainingIsTheSameToTheBit) {
  const Trained without = growing(false);
  wanted_.restore_on = wanted_.skip_on = wanted_.clip_on = wanted_.lower_rate_on = {"dead_layers"};
  const Trained with = growing(true);
  EXPECT_TRUE(at::equal(without.weight, with.weight));
  EXPECT_TRUE(with.told.empty());
}

TEST_F(ReactingLoopTest, TheRateIsLoweredFromThisUpdateOnAndTheRecordSaysSo) {
  wanted_.lower_rate_on = {"loss_grew"};
  const Trained loop = growing(true);
  const auto factors = interventions("rate_factor");
  ASSERT_FALSE(factors.empty());
  const auto step = static_cast<size_t>(factors[0].step);
  EXPECT_DOUBLE_EQ(loop.rates.at(step - 1), 1.5);
  EXPECT_DOUBLE_EQ(loop.rates.at(step), 1.5 * factors[0].value);
  ASSERT_EQ(loop.told.size(), factors.size());
  EXPECT_NE(loop.told[0].find("because of loss_grew"), std::string::npos) << loop.told[0];
  EXPECT_EQ(RunReader(folder_ + "/run").notes().at(0).text, loop.told[0]);
}

TEST_F(ReactingLoopTest, AStepWhoseLossIsLostIsSkipped) {
  wanted_.skip_on = {"diverged"};
  const auto options = torch::optim::SGDOptions(0.05);
  EXPECT_FALSE(trained<torch::optim::SGD>(options, false, 6).weight.isfinite().all().item<bool>());
  EXPECT_TRUE(trained<torch::optim::SGD>(options, true, 6).weight.isfinite().all().item<bool>());
  ASSERT_EQ(interventions("skipped").size(), 1u);
  EXPECT_EQ(interventions("skipped")[0].step, 6);
}

TEST_F(ReactingLoopTest, TheLastGoodStateOfModelAndOptimizerComesBackAndRatesStay) {
  wanted_.restore_on = wanted_.lower_rate_on = {"diverged"};
  wanted_.keep_every = 1;
  const auto options = torch::optim::AdamOptions(0.05);
  const Trained loop = trained<torch::optim::Adam>(options, true, 6);
  const auto restored = interventions("restored");
  ASSERT_FALSE(restored.empty());
  EXPECT_EQ(restored[0].step, 6);
  EXPECT_LT(restored[0].value, 6);
  EXPECT_DOUBLE_EQ(loop.rates.at(6), 0.05 * interventions("rate_factor").at(0).value);
  EXPECT_TRUE(loop.weight.isfinite().all().item<bool>());
}

TEST_F(ReactingLoopTest, GradientsAreClippedFromThenOn) {
  wanted_.clip_on = {"loss_grew"};
  wanted_.clip_norm = 0.5;
  growing(true);
  const auto clips = interventions("clip_norm");
  ASSERT_FALSE(clips.empty());
  const RunReader run(folder_ + "/run");
  for (const NumberPoint& update : run.numbers(run.find("update_size")->id)) {
    if (update.step < clips[0].step) continue;
    EXPECT_LE(update.value, 1.5 * 0.5 * (1 + 1e-5)) << update.step;
  }
}

TEST_F(ReactingLoopTest, TheLoopStopsAndKeepsWhatItIsAskedTo) {
  wanted_.checkpoint_on = wanted_.stop_on = {"loss_grew"};
  const Trained loop = growing(true);
  EXPECT_EQ(loop.checkpoints, 1);
  EXPECT_LT(loop.steps, 24);
}

TEST_F(ReactingLoopTest, NamesThatAreNoLampAndNumbersThatAreTooSmallAreRefused) {
  wanted_.stop_on = {"los_grew"};
  expect_error([&] { growing(true); }, {"did you mean 'loss_grew'?"});
  wanted_.stop_on.clear();
  wanted_.pause = 0;
  expect_error([&] { growing(true); }, {"reactions: options.pause is 0 but must be at least 1"});
}

}  // namespace
}  // namespace flightdeck

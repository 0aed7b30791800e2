// SPDX-License-Identifier: MIT
// Parameters that take no part in a training, each for a reason of its own.
#include "quantities/short_loop.h"

namespace flightdeck::tests {
namespace {

namespace nn = torch::nn;

class TrainedTest : public SeededTest {
 protected:
  TrainedTest() {
    loop_.quantities = {quantity("trained")};
    loop_.parameters = ParameterList()
                           .add("used", used_)
                           .add("dead", dead_)
                           .add("unused", unused_)
                           .add("forgotten", forgotten_);
    loop_.losses = [this](int64_t) {
      // Behind a relu of negative numbers alone no gradient comes through.
      const Tensor silent = (dead_.square() + 1).neg().relu();
      return losses_of(random({5, 3}).matmul(used_) + forgotten_ + silent);
    };
    loop_.optimizer = &optimizer_;
  }

  Tensor used_ = random_parameter({3, 2}), dead_ = random_parameter({2}),
         unused_ = random_parameter({4}), forgotten_ = random_parameter({2});
  torch::optim::SGD optimizer_{std::vector<Tensor>{used_, dead_, unused_},
                               torch::optim::SGDOptions(0.1)};
  ShortLoop loop_;
};

TEST_F(TrainedTest, CountsWhoIsLeftOutAndWhy) {
  const auto sink = loop_.run(3);
  for (int64_t step = 0; step < 2; ++step) {
    EXPECT_EQ(sink->number(step, "trained"), 0.25);
    EXPECT_EQ(sink->number(step, "trained", "", "parameters"), 4);
    EXPECT_EQ(sink->number(step, "trained", "", "unreachable"), 1);
    EXPECT_EQ(sink->number(step, "trained", "", "without_gradient"), 1);
    EXPECT_EQ(sink->number(step, "trained", "", "not_optimized"), 1);
    EXPECT_EQ(sink->number(step, "trained", "", "extra_optimized"), 0);
    EXPECT_EQ(sink->number(step, "trained", "", "unchanged"), 3);
    EXPECT_EQ(sink->number(step, "trained", "", "leftover"), 0);
    EXPECT_EQ(sink->number(step, "trained", "used"), 1);
    EXPECT_EQ(sink->number(step, "trained", "unused", "unreachable"), 1);
    EXPECT_EQ(sink->number(step, "trained", "dead", "without_gradient"), 1);
    EXPECT_EQ(sink->number(step, "trained", "forgotten", "not_optimized"), 1);
    EXPECT_EQ(sink->number(step, "trained", "forgotten", "unchanged"), 1);
    EXPECT_EQ(sink->number(step, "trained", "used", "unchanged"), 0);
  }
}

TEST_F(TrainedTest, NamesThemOnce) {
  const std::vector<std::string> texts = remarks_of(*loop_.run(3), "trained");
  const std::vector<std::string> expected = {"the loss does not depend on 'unused'",
                                             "no gradient reaches 'dead'",
                                             "not in the optimizer: 'forgotten'",
                                             "the update left unchanged 'dead', 'unused', "
                                             "'forgotten'"};
  EXPECT_EQ(texts, expected);
}

TEST_F(TrainedTest, WithoutAnOptimizerSaysNothingOfIt) {
  loop_.optimizer = nullptr;
  const auto sink = loop_.run(1);
  EXPECT_EQ(sink->find(0, "trained", "", "not_optimized"), nullptr);
  EXPECT_EQ(sink->number(0, "trained"), 0.5);
}

TEST_F(TrainedTest, CountsTensorsOfTheOptimizerThatAreNotWatched) {
  const Tensor other = random_parameter({7});
  optimizer_.add_parameters({other});
  EXPECT_EQ(loop_.run(1)->number(0, "trained", "", "extra_optimized"), 1);
}

// Gradients that add up since nobody clears them: the ratio is that of their norms.
TEST_F(TrainedTest, SeesGradientsThatWereLeftOver) {
  loop_.clears_gradients = false;
  std::vector<double> before, after;
  loop_.losses = [this, &before](int64_t) {
    double square = 0;
    for (const NamedParameter& parameter : loop_.parameters) {
      const Tensor& gradient = parameter.tensor.grad();
      if (gradient.defined()) square += number(gradient.square().sum());
    }
    before.push_back(std::sqrt(square));
    return losses_of(random({5, 3}).matmul(used_) + forgotten_);
  };
  const auto sink = loop_.run(4);
  EXPECT_EQ(sink->number(0, "trained", "", "leftover"), 0);
  EXPECT_EQ(sink->find(0, "trained", "", "leftover_ratio"), nullptr);
  for (int64_t step = 1; step < 3; ++step) {
    EXPECT_EQ(sink->number(step, "trained", "", "leftover"), 2);
    expect_number(sink->number(step, "trained", "", "leftover_ratio"),
                  before[step] / before[step + 1],
                  "ratio at step " + std::to_string(step));
  }
  const std::vector<std::string> texts = remarks_of(*sink, "trained");
  EXPECT_NE(std::find(texts.begin(),
                      texts.end(),
                      "gradients were left over before the backward pass: 'used', 'forgotten'"),
            texts.end());
}

TEST_F(TrainedTest, NamesAtMostEight) {
  Tensor many[12];
  ParameterList list;
  for (int k = 0; k < 12; ++k) list.add("p" + std::to_string(k), many[k] = random_parameter({2}));
  loop_.parameters = list.add("used", used_);
  loop_.optimizer = nullptr;
  loop_.losses = [this](int64_t) { return losses_of(random({5, 3}).matmul(used_)); };
  EXPECT_EQ(remarks_of(*loop_.run(1), "trained")[0],
            "the loss does not depend on 'p0', 'p1', 'p2', 'p3', 'p4', 'p5', 'p6', 'p7' and 4 "
            "more");
}

class Trained : public RunTest {};

TEST_P(Trained, IsEverythingInARunThatTrainsAll) {
  for (int64_t step = 0; step < WatchedRun::kSteps - 1; ++step) {
    EXPECT_EQ(run().sink->number(step, "trained"), 1) << "step " << step;
    EXPECT_EQ(run().sink->number(step, "trained", "", "unchanged"), 0) << "step " << step;
    EXPECT_EQ(run().sink->number(step, "trained", "", "not_optimized"), 0) << "step " << step;
  }
}

INSTANTIATE_TEST_SUITE_P(Runs, Trained, ::testing::ValuesIn(run_cases()), name_of_run);

}  // namespace
}  // namespace flightdeck::tests

// SPDX-License-Identifier: MIT
// Gradient that does not come through the watched losses: rows stay those of the losses, and it is
// said.
#include <torch/torch.h>

#include "errors.h"
#include "oracle.h"
#include "tensors.h"

namespace flightdeck::tests {
namespace {

// One trunk, two heads.
class ForeignGradient : public SeededTest {
 protected:
  void SetUp() override {
    SeededTest::SetUp();
    trunk_ = random_parameter({4, 3});
    first_ = random_parameter({3, 2});
    second_ = random_parameter({3, 2});
    scale_ = random_parameter({3});
    parameters_ = {{"trunk", trunk_}, {"first", first_}, {"second", second_}, {"scale", scale_}};
    x_ = random({5, 4});
    targets_ = random({5, 2});
  }

  void forward() {
    hidden_ = x_.mm(trunk_).tanh() * scale_;
    l1_ = (hidden_.mm(first_) - targets_).pow(2).sum(1);
    l2_ = (hidden_.mm(second_) - 1).pow(2).sum(1);
  }

  // What `backward` leaves in .grad without a watch.
  std::vector<Tensor> unwatched(const std::function<void()>& backward) {
    clear_gradients(parameters_);
    forward();
    backward();
    const std::vector<Tensor> gradients = gradients_of(parameters_);
    clear_gradients(parameters_);
    forward();
    return gradients;
  }

  // Watches the first losses through `backward`; holds rows and .grad to what they must be.
  Gradients expect_exact(const std::function<void()>& backward, GradientOptions options = {}) {
    const std::vector<Tensor> expected = unwatched(backward);
    const Oracle oracle = differentiate(l1_, parameters_);
    options.directions = random_directions(parameters_);
    Watch watch(l1_, parameters_, all_needs(), options);
    backward();
    const Gradients answers = watch.finish();
    expect_matches_oracle(answers, oracle, all_needs(), options.directions);
    const std::vector<Tensor> actual = gradients_of(parameters_);
    for (size_t p = 0; p < expected.size(); ++p) {
      if (options.reuse_gradients && expected[p].defined()) {
        expect_close(actual[p], expected[p], ".grad of " + parameters_[p].name);
      } else {
        EXPECT_TRUE(identical(actual[p], expected[p])) << ".grad of " << parameters_[p].name;
      }
    }
    return answers;
  }

  static bool mentions_own_pass(const Gradients& answers) {
    for (const std::string& remark : answers.remarks) {
      if (remark.find("pass of its own") != std::string::npos) return true;
    }
    return false;
  }

  std::vector<NamedParameter> parameters_;
  Tensor trunk_, first_, second_, scale_, x_, targets_, hidden_, l1_, l2_;
};

TEST_F(ForeignGradient, OfASecondLossIsNotMixedIntoTheRows) {
  const Gradients answers = expect_exact([&] { (l1_.mean() + l2_.mean()).backward(); });
  EXPECT_TRUE(mentions_own_pass(answers));
}

TEST_F(ForeignGradient, OfASecondLossBesideWeightedLossesIsNotMixedIn) {
  const Tensor weights = random({5}).abs() + 0.1;
  const Gradients answers =
      expect_exact([&] { ((weights * l1_).sum() + 0.3 * l2_.sum()).backward(); });
  EXPECT_TRUE(mentions_own_pass(answers));
}

TEST_F(ForeignGradient, LeavesTheHandedOverGradientsRight) {
  GradientOptions options;
  options.reuse_gradients = true;
  EXPECT_TRUE(
      mentions_own_pass(expect_exact([&] { (l1_.mean() + l2_.mean()).backward(); }, options)));
  EXPECT_FALSE(mentions_own_pass(expect_exact([&] { l1_.mean().backward(); }, options)));
}

TEST_F(ForeignGradient, OfAnActivationPenaltyIsNotMixedIn) {
  EXPECT_TRUE(mentions_own_pass(
      expect_exact([&] { (l1_.sum() + 0.1 * hidden_.pow(2).sum()).backward(); })));
}

TEST_F(ForeignGradient, OfAnotherPassBeforeOrAfterIsNotMixedIn) {
  EXPECT_FALSE(mentions_own_pass(expect_exact([&] {
    l2_.mean().backward({}, /*retain_graph=*/true);
    l1_.mean().backward();
  })));
  EXPECT_FALSE(mentions_own_pass(expect_exact([&] {
    l1_.mean().backward({}, /*retain_graph=*/true);
    l2_.mean().backward();
  })));
  EXPECT_FALSE(mentions_own_pass(expect_exact([&] {
    l1_.mean().backward({}, /*retain_graph=*/true);
    (3 * l1_.mean()).backward();
  })));
}

TEST_F(ForeignGradient, OfHooksOnActivationsIsNotMixedIn) {
  EXPECT_TRUE(mentions_own_pass(expect_exact([&] {
    hidden_.register_hook([](const Tensor& gradient) { return gradient * 2; });
    l1_.mean().backward();
  })));
  EXPECT_TRUE(mentions_own_pass(expect_exact([&] {
    l1_.register_hook([](const Tensor& gradient) { return gradient * 2; });
    l1_.mean().backward();
  })));
}

TEST_F(ForeignGradient, OfHooksThatWereThereFirstIsNotMixedIn) {
  forward();
  const Oracle oracle = differentiate(l1_, parameters_);
  forward();
  hidden_.register_hook([](const Tensor& gradient) { return gradient.neg(); });
  Watch watch(l1_, parameters_, Need::kIndividual);
  l1_.mean().backward();
  const Gradients answers = watch.finish();
  expect_matches_oracle(answers, oracle, Need::kIndividual, {});
  EXPECT_TRUE(mentions_own_pass(answers));
}

TEST_F(ForeignGradient, IsNoAlarmForPlainTraining) {
  EXPECT_FALSE(mentions_own_pass(expect_exact([&] { l1_.mean().backward(); })));
  EXPECT_FALSE(mentions_own_pass(expect_exact([&] { (l1_.sum() * 1024).backward(); })));
  EXPECT_FALSE(mentions_own_pass(expect_exact([&] { l1_.logsumexp(0).backward(); })));
}

TEST_F(ForeignGradient, IsNoAlarmForPenaltiesAddedOutsideButTheCoverageNamesThem) {
  const Gradients answers = expect_exact(
      [&] { (l1_.mean() + 0.01 * (trunk_.pow(2).sum() + first_.abs().sum())).backward(); });
  EXPECT_FALSE(mentions_own_pass(answers));
  EXPECT_EQ(answers.coverage.parameters[0].elsewhere, std::vector<std::string>{"PowBackward0"});
  EXPECT_TRUE(answers.coverage.parameters[3].elsewhere.empty());
}

TEST_F(ForeignGradient, IsNoAlarmForHooksAtParameters) {
  EXPECT_FALSE(mentions_own_pass(expect_exact([&] {
    const auto hook = trunk_.register_hook([](const Tensor& gradient) { return gradient * 0.5; });
    l1_.mean().backward();
    trunk_.remove_hook(hook);
  })));
}

TEST_F(ForeignGradient, IsNoAlarmForTwoWatchesOnTheirOwnLosses) {
  forward();
  const Oracle one = differentiate(l1_, parameters_), two = differentiate(l2_, parameters_);
  Watch first(l1_, parameters_, Need::kIndividual);
  Watch second(l2_, parameters_, Need::kIndividual);
  (l1_.mean() + l2_.mean()).backward();
  expect_matches_oracle(first.finish(), one, Need::kIndividual, {});
  expect_matches_oracle(second.finish(), two, Need::kIndividual, {});
}

TEST_F(ForeignGradient, LeavesTheRowsOfSlowParametersExact) {
  forward();
  // Sorting along the batch has no rule.
  const Tensor sorted = std::get<0>(hidden_.sort(0));
  l1_ = losses_of(sorted.mm(first_));
  const Oracle oracle = differentiate(l1_, parameters_);
  Watch watch(l1_, parameters_, Need::kIndividual);
  (l1_.mean() + l2_.mean()).backward();
  expect_matches_oracle(watch.finish(), oracle, Need::kIndividual, {});
}

TEST_F(ForeignGradient, OfAPassForSomeParametersOnlyLeavesSlowRowsExact) {
  forward();
  const Tensor sorted = std::get<0>(hidden_.sort(0));
  l1_ = losses_of(sorted.mm(first_));
  const Oracle oracle = differentiate(l1_, parameters_);
  Watch watch(l1_, parameters_, Need::kIndividual);
  torch::autograd::grad({l1_.mean()}, {first_});
  const Gradients answers = watch.finish();
  expect_close(answers.at("trunk").individual, oracle.individual[0], "slow rows");
  expect_close(answers.at("first").individual, oracle.individual[1], "rows that were reached");
}

TEST_F(ForeignGradient, IsNotPartOfTheNormThatArrivesFromThePassOfTheLosses) {
  const auto backward = [&] {
    l1_.mean().backward({}, /*retain_graph=*/true);
    l2_.mean().backward();
  };
  unwatched(backward);
  Watch watch(l1_, parameters_, Need::kArrivedNorm);
  backward();
  const Gradients answers = watch.finish();
  forward();
  const Oracle oracle = differentiate(l1_, parameters_);
  expect_close(
      answers.at("trunk").arrived_norm, oracle.individual[0].mean(0).norm(), "arrived norm");
}

}  // namespace
}  // namespace flightdeck::tests

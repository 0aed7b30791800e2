// SPDX-License-Identifier: MIT
// The networks for 224 x 224 images: one at a time, up to 600 MB of parameters each.
#include <cmath>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "suite/nets/resnet.h"
#include "suite/problem.h"

namespace flightdeck::suite {
namespace {

class LargeProblems : public ::testing::TestWithParam<std::string> {};

TEST_P(LargeProblems, HaveThePublishedSizeStartAndPenalty) {
  torch::manual_seed(0);
  const Problem problem = find_problem(GetParam());
  const Model model = problem.build();
  int64_t count = 0;
  for (const Tensor& parameter : model.module->parameters()) count += parameter.numel();
  EXPECT_EQ(count, problem.parameters);

  const bool is_vgg = problem.name.find("vgg") != std::string::npos;
  const Tensor term = problem.penalty(*model.module);
  ASSERT_EQ(term.defined(), problem.l2 > 0.0);
  const double penalty = term.defined() ? term.item<double>() : 0.0;
  if (is_vgg) {
    const double expected = problem.name.find("16") != std::string::npos ? 0.967 : 1.287;
    EXPECT_NEAR(penalty, expected, 0.01 * expected);
  } else {
    EXPECT_EQ(penalty > 0.0, problem.l2 > 0.0);
  }

  if (problem.name == "imagenet_resnet50_no_norm") return;  // nothing holds its sums at the start
  const torch::NoGradGuard no_grad;
  // The branches of a residual network add up until the running statistics know the data.
  if (problem.name != "imagenet_resnet50") model.module->eval();
  const Batch batch = problem.random_batch(2);
  const Tensor outputs = model.forward(batch.inputs);
  ASSERT_EQ(outputs.sizes(), (std::vector<int64_t>{2, problem.classes}));
  const Tensor losses = problem.losses(outputs, batch.targets);
  ASSERT_EQ(losses.sizes(), (std::vector<int64_t>{2}));
  const double uniform = std::log(static_cast<double>(problem.classes));
  EXPECT_NEAR(losses.mean().item<double>(), uniform, 0.1 * uniform);
}

// The published count is of 1000 classes.
TEST(Resnet50, HasThePublishedNumberOfParameters) {
  const Model model = nets::resnet50(1000);
  int64_t count = 0;
  for (const Tensor& parameter : model.module->parameters()) count += parameter.numel();
  EXPECT_EQ(count, 25557032);
}

TEST(Resnet50, IsFiniteWithoutBatchNormToo) {
  torch::manual_seed(0);
  const Problem problem = find_problem("imagenet_resnet50_no_norm");
  const Model model = problem.build();
  const Batch batch = problem.random_batch(2);
  const Tensor losses = problem.losses(model.forward(batch.inputs), batch.targets);
  losses.mean().backward();
  for (const auto& item : model.module->named_parameters()) {
    EXPECT_TRUE(item.value().grad().isfinite().all().item<bool>()) << item.key();
    EXPECT_EQ(item.key().find("norm"), std::string::npos) << item.key();
  }
}

// The others are built in problems_test.cpp.
std::vector<std::string> large_problems() {
  std::vector<std::string> names;
  for (const Problem& problem : all_problems()) {
    if (problem.parameters >= 20'000'000) names.push_back(problem.name);
  }
  return names;
}

INSTANTIATE_TEST_SUITE_P(OfTheSuite,
                         LargeProblems,
                         ::testing::ValuesIn(large_problems()),
                         [](const auto& info) { return info.param; });

TEST(InceptionV3, AddsItsAuxiliaryHeadWhileTraining) {
  torch::manual_seed(0);
  const Problem problem = find_problem("imagenet_inception_v3");
  const Model model = problem.build();
  const Batch batch = problem.random_batch(2);
  const Tensor outputs = model.forward(batch.inputs);
  ASSERT_EQ(outputs.sizes(), (std::vector<int64_t>{2, 2002}));
  EXPECT_EQ(problem.accuracy(outputs, batch.targets).dim(), 0);
  const auto smoothed = [&](const Tensor& logits) {
    const Tensor logs = torch::log_softmax(logits, 1);
    const Tensor hit = logs.gather(1, batch.targets.unsqueeze(1)).squeeze(1);
    return -0.9 * hit - 0.1 * logs.mean(1);
  };
  const Tensor expected =
      smoothed(outputs.slice(1, 0, 1001)) + 0.4 * smoothed(outputs.slice(1, 1001));
  const Tensor losses = problem.losses(outputs, batch.targets);
  EXPECT_TRUE(torch::allclose(losses, expected, 1e-4, 1e-4));
  losses.mean().backward();
  for (const auto& item : model.module->named_parameters()) {
    EXPECT_TRUE(item.value().grad().defined()) << item.key();
  }
}

}  // namespace
}  // namespace flightdeck::suite

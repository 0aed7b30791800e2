// SPDX-License-Identifier: MIT
// The problems have the published sizes, shapes, initial values and penalties.
#include <cmath>
#include <map>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "errors.h"
#include "suite/evaluate.h"
#include "suite/initialise.h"
#include "suite/nets/allcnnc.h"
#include "suite/nets/conv_3c3d.h"
#include "suite/problem.h"

namespace flightdeck::suite {
namespace {

int64_t parameter_count(const Model& model) {
  int64_t count = 0;
  for (const Tensor& parameter : model.module->parameters()) count += parameter.numel();
  return count;
}

TEST(Problems, HaveThePublishedParameterCounts) {
  const std::map<std::string, int64_t> published = {
      {"cifar100_3c3d", 918340},
      {"cifar100_allcnnc", 1387108},
      {"cifar10_3c3d", 895210},
      {"fmnist_2c2d", 3274634},
      {"fmnist_logreg", 7850},
      {"fmnist_mlp", 1336610},
      {"mnist_2c2d", 3274634},
      {"mnist_logreg", 7850},
      {"mnist_mlp", 1336610},
      {"quadratic_deep", 100},
      {"svhn_3c3d", 895210},
      {"transformer", 3243530},
  };
  ASSERT_EQ(all_problems().size(), published.size());
  for (const Problem& problem : all_problems()) {
    EXPECT_EQ(parameter_count(problem.build()), published.at(problem.name)) << problem.name;
  }
}

TEST(Problems, HaveThePublishedBudgets) {
  const auto expect_budget = [](const char* name, int64_t batch_size, int64_t epochs) {
    const Problem problem = find_problem(name);
    EXPECT_EQ(problem.batch_size, batch_size) << name;
    EXPECT_EQ(problem.epochs, epochs) << name;
    EXPECT_TRUE(problem.has_published_budget) << name;
  };
  expect_budget("quadratic_deep", 128, 100);
  expect_budget("mnist_logreg", 128, 50);
  expect_budget("fmnist_2c2d", 128, 100);
  expect_budget("svhn_3c3d", 128, 100);
  expect_budget("cifar100_allcnnc", 256, 350);
  EXPECT_FALSE(find_problem("cifar100_3c3d").has_published_budget);
}

TEST(Problems, GiveOneFiniteLossPerSample) {
  torch::manual_seed(0);
  for (const Problem& problem : all_problems()) {
    const Model model = problem.build();
    const Batch batch = problem.random_batch(3);
    const Tensor outputs = model.forward(batch.inputs);
    if (problem.has_accuracy()) {
      ASSERT_EQ(outputs.sizes(), (std::vector<int64_t>{3, problem.classes})) << problem.name;
      EXPECT_EQ(accuracy(outputs, batch.targets).dim(), 0) << problem.name;
    }
    const Tensor losses = problem.losses(outputs, batch.targets);
    ASSERT_EQ(losses.sizes(), (std::vector<int64_t>{3})) << problem.name;
    EXPECT_TRUE(losses.isfinite().all().item<bool>()) << problem.name;
    losses.mean().backward();
    for (const auto& item : model.module->named_parameters()) {
      EXPECT_TRUE(item.value().grad().defined()) << problem.name << " " << item.key();
    }
  }
}

// Random images do not change the expected loss of an untrained net by more than a few percent.
TEST(Problems, StartNearThePublishedLosses) {
  torch::manual_seed(0);
  const std::map<std::string, std::pair<double, double>> published = {
      // loss, tolerance
      {"fmnist_logreg", {std::log(10.0), 1e-6}},
      {"mnist_logreg", {std::log(10.0), 1e-6}},
      {"mnist_mlp", {std::log(10.0), 0.1}},
      {"fmnist_2c2d", {2.35, 0.15}},
      {"cifar10_3c3d", {2.33, 0.15}},
      {"cifar100_allcnnc", {4.62, 0.05}},  // 4.927 with the penalty of 0.306
  };
  for (const auto& [name, expected] : published) {
    const Problem problem = find_problem(name);
    const Model model = problem.build();
    model.module->eval();
    const Batch batch = problem.random_batch(64);
    const double loss =
        problem.losses(model.forward(batch.inputs), batch.targets).mean().item<double>();
    EXPECT_NEAR(loss, expected.first, expected.second) << name;
  }
}

TEST(Problems, StartWithTheExpectedPenalty) {
  torch::manual_seed(0);
  const std::map<std::string, double> expected = {
      {"cifar10_3c3d", 1.262},
      {"svhn_3c3d", 1.262},
      {"cifar100_3c3d", 1.386},
      {"cifar100_allcnnc", 0.306},
  };
  for (const Problem& problem : all_problems()) {
    const Model model = problem.build();
    const Tensor penalty = problem.penalty(*model.module);
    const auto entry = expected.find(problem.name);
    ASSERT_EQ(penalty.defined(), entry != expected.end()) << problem.name;
    if (!penalty.defined()) continue;
    EXPECT_NEAR(penalty.item<double>(), entry->second, 0.01 * entry->second) << problem.name;
  }
}

TEST(Problems, PenaliseWeightsAndNotBiases) {
  const Problem problem = find_problem("cifar10_3c3d");
  const Model model = problem.build();
  problem.penalty(*model.module).backward();
  for (const auto& item : model.module->named_parameters()) {
    const Tensor gradient = item.value().grad();
    if (item.key().find("bias") != std::string::npos) {
      EXPECT_FALSE(gradient.defined()) << item.key();
    } else {
      EXPECT_TRUE(torch::allclose(gradient, 2e-3 * item.value())) << item.key();
    }
  }
}

// A lone pixel in the last row and column reaches the pooled maps only through SAME padding 0 / 1.
TEST(Problems, PadBehindOnly) {
  Tensor maps = torch::zeros({1, 1, 28, 28});
  maps.index_put_({0, 0, 27, 27}, 1.0);
  const auto pool = [](const Tensor& padded) { return torch::max_pool2d(padded, {3, 3}, {2, 2}); };
  const Tensor expected = pool(torch::constant_pad_nd(maps, {0, 1, 0, 1}, 0));
  ASSERT_EQ(expected.sizes(), (std::vector<int64_t>{1, 1, 14, 14}));
  const Model net = nets::conv_3c3d(10);
  Tensor actual = maps;
  for (const auto& item : net.module->named_children()) {
    if (item.key() == "pad1") actual = item.value()->as<torch::nn::ZeroPad2d>()->forward(actual);
    if (item.key() == "pool1") actual = item.value()->as<torch::nn::MaxPool2d>()->forward(actual);
  }
  EXPECT_TRUE(torch::equal(actual, expected));
}

TEST(Problems, KeepThePublishedSizesOfMaps) {
  const auto sizes = [](const Model& net, const std::string& behind) {
    Tensor maps = torch::zeros({1, 3, 32, 32});
    for (auto& item : net.module->as<torch::nn::Sequential>()->named_children()) {
      if (auto* conv = item.value()->as<torch::nn::Conv2d>()) maps = conv->forward(maps);
      if (auto* pad = item.value()->as<torch::nn::ZeroPad2d>()) maps = pad->forward(maps);
      if (auto* pool = item.value()->as<torch::nn::MaxPool2d>()) maps = pool->forward(maps);
      if (item.key() == behind) break;
    }
    return maps.size(2);
  };
  const Model net = nets::conv_3c3d(10);
  EXPECT_EQ(sizes(net, "conv1"), 28);
  EXPECT_EQ(sizes(net, "pool1"), 14);
  EXPECT_EQ(sizes(net, "conv2"), 12);
  EXPECT_EQ(sizes(net, "pool2"), 6);
  EXPECT_EQ(sizes(net, "pool3"), 3);
  const Model all = nets::allcnnc(100);
  EXPECT_EQ(sizes(all, "conv2"), 32);
  EXPECT_EQ(sizes(all, "conv3"), 16);
  EXPECT_EQ(sizes(all, "conv6"), 8);
  EXPECT_EQ(sizes(all, "conv9"), 6);
}

TEST(Problems, OfferTheNearestNameOnATypingError) {
  EXPECT_EQ(find_problem("cifar10_3c3d").name, "cifar10_3c3d");
  const std::string message = tests::error_of([] { find_problem("fminst_2c2d"); });
  tests::expect_mentions(message, {"fminst_2c2d", "did you mean 'fmnist_2c2d'", "quadratic_deep"});
  const std::string far = tests::error_of([] { find_problem("imagenet"); });
  EXPECT_EQ(far.find("did you mean"), std::string::npos) << far;
}

TEST(TruncatedNormal, StaysWithinTwoSigmaWithTheUncorrectedDeviation) {
  torch::manual_seed(0);
  const Tensor weight = torch::empty({400, 500});
  truncated_normal_(weight, 0.05);
  EXPECT_LE(weight.abs().max().item<double>(), 0.1);
  EXPECT_NEAR(weight.mean().item<double>(), 0.0, 5e-4);
  EXPECT_NEAR(weight.std().item<double>(), 0.8796 * 0.05, 3e-4);
}

}  // namespace
}  // namespace flightdeck::suite

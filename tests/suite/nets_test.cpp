// SPDX-License-Identifier: MIT
// The networks have the published sizes, shapes and initial values.
#include <cmath>
#include <map>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "suite/initialise.h"
#include "suite/net.h"

namespace flightdeck::suite {
namespace {

int64_t parameter_count(const Model& model) {
  int64_t count = 0;
  for (const Tensor& parameter : model.module->parameters()) count += parameter.numel();
  return count;
}

TEST(Nets, HaveThePublishedParameterCounts) {
  const std::map<std::string, int64_t> published = {
      {"cifar100_allcnnc", 1387108},
      {"cifar10_3c3d", 895210},
      {"fmnist_2c2d", 3274634},
      {"mnist_mlp", 1336610},
      {"transformer", 3243530},
  };
  ASSERT_EQ(all_nets().size(), published.size());
  for (const Net& net : all_nets()) EXPECT_EQ(parameter_count(net.build()), published.at(net.name));
}

TEST(Nets, GiveOneFiniteLossPerSample) {
  torch::manual_seed(0);
  for (const Net& net : all_nets()) {
    const Model model = net.build();
    const Tensor logits = model.forward(net.random_inputs(3));
    ASSERT_EQ(logits.sizes(), (std::vector<int64_t>{3, net.classes})) << net.name;
    const Tensor losses = individual_losses(logits, random_labels(net, 3));
    ASSERT_EQ(losses.sizes(), (std::vector<int64_t>{3})) << net.name;
    EXPECT_TRUE(losses.isfinite().all().item<bool>()) << net.name;
    losses.mean().backward();
    for (const auto& item : model.module->named_parameters()) {
      EXPECT_TRUE(item.value().grad().defined()) << net.name << " " << item.key();
    }
  }
}

TEST(Nets, StartNearTheLossOfGuessing) {
  torch::manual_seed(0);
  const Net mlp = find_net("mnist_mlp");
  const Tensor losses =
      individual_losses(mlp.build().forward(mlp.random_inputs(64)), random_labels(mlp, 64));
  EXPECT_NEAR(losses.mean().item<double>(), std::log(10.0), 0.2);
}

TEST(Nets, AreFoundByNameOnly) {
  EXPECT_EQ(find_net("cifar10_3c3d").name, "cifar10_3c3d");
  try {
    find_net("cifar10_3c3");
    FAIL() << "no exception";
  } catch (const c10::Error& error) {
    EXPECT_NE(std::string(error.what()).find("mnist_mlp"), std::string::npos);
  }
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

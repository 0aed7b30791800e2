// SPDX-License-Identifier: MIT
// Two small chains in double and a step of an optimizer that reads their curvature.
#pragma once

#include <string>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "curvature/chain_oracle.h"
#include "suite/curvature_optimizer.h"
#include "suite/problem.h"

namespace flightdeck::suite {

namespace nn = torch::nn;
using tests::ChainOracle;

struct Chain {
  nn::Sequential net;
  Tensor inputs, labels;

  Tensor losses() { return cross_entropies(net->forward(inputs), labels); }
  Parameters parameters() const { return net->named_parameters(); }
  tests::DenseCurvature dense() {
    const Tensor outputs = net->forward(inputs);
    return tests::dense_curvature(cross_entropies(outputs, labels), outputs, parameters());
  }
  ChainOracle oracle() {
    return ChainOracle(
        net, inputs, [this](const Tensor& outputs) { return cross_entropies(outputs, labels); });
  }
};

inline Chain perceptron() {
  torch::manual_seed(11);
  Chain chain;
  chain.net = nn::Sequential(nn::Linear(5, 4), nn::Sigmoid(), nn::Linear(4, 3));
  chain.net->to(torch::kDouble);
  chain.inputs = torch::randn({6, 5}, torch::kDouble);
  chain.labels = torch::randint(3, {6}, torch::kLong);
  return chain;
}

inline Chain convolutional() {
  torch::manual_seed(12);
  Chain chain;
  chain.net = nn::Sequential(
      nn::Conv2d(nn::Conv2dOptions(1, 2, 3)), nn::Tanh(), nn::Flatten(), nn::Linear(2 * 3 * 2, 3));
  chain.net->to(torch::kDouble);
  chain.inputs = torch::randn({5, 1, 5, 4}, torch::kDouble);
  chain.labels = torch::randint(3, {5}, torch::kLong);
  return chain;
}

inline CurvatureOptimizer& observer(torch::optim::Optimizer& optimizer) {
  return dynamic_cast<CurvatureOptimizer&>(optimizer);
}

inline Tensor flat(const Parameters& parameters) {
  std::vector<Tensor> parts;
  for (const NamedParameter& each : parameters) parts.push_back(each.tensor.detach().flatten());
  return torch::cat(parts).clone();
}

// One step on the mean loss plus l2 / 2 ||x||² of every parameter.
inline void take_step(torch::optim::Optimizer& optimizer, Chain& chain, double l2 = 0.0) {
  optimizer.zero_grad();
  Objective objective;
  objective.losses = chain.losses();
  if (l2 != 0.0) objective.l2.assign(chain.parameters().size(), l2);
  observer(optimizer).observe(objective);
  Tensor loss = objective.losses.mean();
  for (const NamedParameter& each : chain.parameters()) {
    if (l2 != 0.0) loss = loss + 0.5 * l2 * each.tensor.square().sum();
  }
  loss.backward();
  optimizer.step();
}

inline void expect_same(const Tensor& actual,
                        const Tensor& expected,
                        const std::string& what,
                        double tolerance = tests::kCurvatureTolerance) {
  ASSERT_EQ(actual.sizes(), expected.sizes()) << what;
  const double error = (actual - expected).abs().max().item<double>();
  EXPECT_LE(error, tolerance * expected.abs().max().item<double>()) << what;
}

}  // namespace flightdeck::suite

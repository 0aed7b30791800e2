// SPDX-License-Identifier: MIT
#include "suite/optimizer.h"

#include <cmath>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "errors.h"
#include "suite/learning_rate.h"

namespace flightdeck::suite {
namespace {

// The parameter after each of `count` steps with constant gradient 2, from 1.
std::vector<double> path_of(const std::string& name, const Hyperparameters& given, int count) {
  Tensor parameter = torch::ones({1}, torch::kDouble).requires_grad_();
  const auto optimizer = find_optimizer(name).make({parameter}, given);
  std::vector<double> path;
  for (int step = 0; step < count; ++step) {
    parameter.mutable_grad() = torch::full({1}, 2.0, torch::kDouble);
    optimizer->step();
    path.push_back(parameter.item<double>());
  }
  return path;
}

void expect_path(const std::vector<double>& actual, const std::vector<double>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) EXPECT_NEAR(actual[i], expected[i], 1e-6) << i;
}

TEST(Optimizers, FollowTheirRules) {
  expect_path(path_of("sgd", {{"learning_rate", 0.1}}, 2), {0.8, 0.6});
  expect_path(path_of("momentum", {{"learning_rate", 0.1}, {"momentum", 0.5}}, 2), {0.8, 0.5});
  expect_path(path_of("nesterov", {{"learning_rate", 0.1}, {"momentum", 0.5}}, 2), {0.7, 0.35});
  expect_path(path_of("adam", {{"learning_rate", 0.1}}, 2), {0.9, 0.8});
  expect_path(path_of("amsgrad", {{"learning_rate", 0.1}}, 2), {0.9, 0.8});
  expect_path(path_of("adamw", {{"learning_rate", 0.1}, {"weight_decay", 0.5}}, 1), {0.85});
  expect_path(path_of("rmsprop", {{"learning_rate", 0.1}, {"decay", 0.75}}, 1), {0.8});
  expect_path(path_of("adagrad", {{"learning_rate", 0.1}}, 2), {0.9, 0.9 - 0.1 / std::sqrt(2.0)});
}

TEST(Optimizers, WorkWithTheirDefaults) {
  EXPECT_EQ(all_optimizers().size(), 8u);
  for (const OptimizerEntry& entry : all_optimizers()) {
    ASSERT_EQ(entry.hyperparameters.front().name, "learning_rate") << entry.name;
    EXPECT_FALSE(entry.summary.empty()) << entry.name;
    EXPECT_LT(path_of(entry.name, {}, 1)[0], 1.0) << entry.name;
    for (const Hyperparameter& parameter : entry.hyperparameters) {
      EXPECT_NO_THROW(entry.complete({{parameter.name, parameter.value}}))
          << entry.name << " " << parameter.name;
    }
  }
}

TEST(Optimizers, RefuseValuesOutsideTheRange) {
  const auto message = [](const std::string& name, const Hyperparameters& given) {
    return tests::error_of([&] { find_optimizer(name).complete(given); });
  };
  tests::expect_mentions(message("sgd", {{"learning_rate", -0.1}}),
                         {"sgd", "learning_rate is -0.1", "[0, inf)"});
  tests::expect_mentions(message("momentum", {{"momentum", 1.0}}), {"momentum is 1", "[0, 1)"});
  tests::expect_mentions(message("adam", {{"epsilon", 0.0}}), {"epsilon is 0", "(0, inf)"});
  tests::expect_mentions(message("adam", {{"beta2", std::nan("")}}), {"beta2 is nan", "[0, 1)"});
  tests::expect_mentions(message("adam", {{"learning_rate", INFINITY}}), {"inf"});
  tests::expect_mentions(message("adam", {{"momentum", 0.9}}),
                         {"of adam called 'momentum'", "beta1"});
  tests::expect_mentions(message("adm", {}), {"no optimizer 'adm'", "did you mean 'adam'"});
}

TEST(SetLearningRate, ReachesEveryGroup) {
  for (const OptimizerEntry& entry : all_optimizers()) {
    const auto optimizer = entry.make({torch::ones({1})});
    optimizer->add_param_group(torch::optim::OptimizerParamGroup({torch::ones({2})}));
    set_learning_rate(*optimizer, 0.25);
    for (const auto& group : optimizer->param_groups()) {
      EXPECT_EQ(group.options().get_lr(), 0.25) << entry.name;
    }
    EXPECT_EQ(learning_rate(*optimizer), 0.25) << entry.name;
  }
}

}  // namespace
}  // namespace flightdeck::suite

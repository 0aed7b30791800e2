// SPDX-License-Identifier: MIT
// Every problem that is small enough can be watched, fast and exactly.
#include <cmath>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "flightdeck/cockpit.h"
#include "suite/problem.h"

namespace flightdeck::suite {
namespace {

bool has_batch_norm(const Model& model) {
  return !model.module->named_buffers().keys().empty() &&
         model.module->named_buffers().keys().back().find("num_batches_tracked") !=
             std::string::npos;
}

class WatchedProblems : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { torch::manual_seed(0); }
};

TEST_P(WatchedProblems, ShowTheNormOfTheirGradient) {
  const Problem problem = find_problem(GetParam());
  const Model model = problem.build();
  const Batch batch = problem.random_batch(3);
  CockpitOptions options;
  options.strict = true;
  if (has_batch_norm(model)) options.batch_norm = BatchNormPolicy::kSplitGradient;
  const Parameters parameters(model.module->named_parameters());
  Cockpit cockpit(parameters, {quantity("grad_norm"), quantity("norm_test")}, options);
  const auto memory = std::make_shared<MemorySink>();
  cockpit.add_sink(memory);
  const Tensor losses = problem.losses(model.forward(batch.inputs), batch.targets);
  {
    const StepWatch watch = cockpit.watch(0, losses);
    losses.mean().backward();
  }
  cockpit.finish();
  double squares = 0.0;
  for (const Tensor& parameter : model.module->parameters()) {
    squares += parameter.grad().to(torch::kDouble).square().sum().item<double>();
  }
  EXPECT_NEAR(memory->number(0, "grad_norm"), std::sqrt(squares), 1e-4 * std::sqrt(squares));
  EXPECT_TRUE(std::isfinite(memory->number(0, "norm_test")));
}

TEST_P(WatchedProblems, HaveFastRulesForAllParameters) {
  const Problem problem = find_problem(GetParam());
  const Model model = problem.build();
  const Batch batch = problem.random_batch(2);
  flightdeck::BatchOptions options;
  if (has_batch_norm(model)) options.batch_norm = BatchNormPolicy::kSplitGradient;
  const Tensor losses = problem.losses(model.forward(batch.inputs), batch.targets);
  const flightdeck::Batch asked(losses, model.module->named_parameters(), options);
  const Coverage report = coverage(asked, Need::kNorms);
  for (const ParameterCoverage& parameter : report.parameters) {
    EXPECT_EQ(parameter.level, CoverageLevel::kExactFast)
        << parameter.name << ": " << parameter.reason;
  }
}

INSTANTIATE_TEST_SUITE_P(OfTheSuite,
                         WatchedProblems,
                         ::testing::Values("two_d_beale",
                                           "two_d_branin",
                                           "two_d_rosenbrock",
                                           "cifar10_3c3d_one_sigmoid",
                                           "cifar10_resnet32",
                                           "mnist_vae",
                                           "svhn_wrn164",
                                           "tolstoi_char_rnn",
                                           "tolstoi_gpt"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace flightdeck::suite

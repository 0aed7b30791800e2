// SPDX-License-Identifier: MIT
// The quadratic has the published numbers: eigenvalues, matrix, points and losses.
#include "suite/quadratic.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "suite/evaluate.h"

namespace flightdeck::suite {
namespace {

void expect_values(const Tensor& actual, const std::vector<double>& expected, double tolerance) {
  ASSERT_EQ(actual.numel(), static_cast<int64_t>(expected.size()));
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(actual[static_cast<int64_t>(i)].item<double>(), expected[i], tolerance) << i;
  }
}

TEST(Quadratic, HasThePublishedEigenvalues) {
  const Tensor e = quadratic().eigenvalues;
  expect_values(
      e.slice(0, 0, 5), {0.37454012, 0.95071431, 0.73199394, 0.59865848, 0.15601864}, 1e-8);
  expect_values(e.slice(0, 90),
                {33.58782738,
                 51.39734362,
                 52.82355146,
                 46.83831593,
                 53.1290154,
                 44.81386789,
                 45.68198488,
                 42.82623055,
                 30.7625738,
                 33.23674281},
                1e-7);
  EXPECT_NEAR(e.sum().item<double>(), 477.6123, 1e-4);
  EXPECT_NEAR((e.max() / e.min()).item<double>(), 9621.13, 1e-2);
}

TEST(Quadratic, HasThePublishedMatrix) {
  const Quadratic drawn = quadratic();
  const Tensor Q = drawn.basis.t().matmul(drawn.eigenvalues.unsqueeze(1) * drawn.basis);
  expect_values(Q[0].slice(0, 0, 4), {6.22142944, 1.1270199, -0.54728195, 0.87385014}, 1e-6);
  EXPECT_NEAR(Q[99][99].item<double>(), 6.30566377, 1e-6);
  EXPECT_NEAR(torch::det(drawn.basis).item<double>(), 1.0, 1e-10);
}

TEST(Quadratic, HasThePublishedPoints) {
  const DataSet data = load_data("quadratic");
  expect_values(data.train.inputs[0].slice(0, 0, 3), {0.2980285, -0.08295858, 0.38861313}, 1e-7);
  expect_values(data.test.inputs[0].slice(0, 0, 3), {0.15443996, -0.5450889, -0.22710186}, 1e-7);
  expect_values(data.valid.inputs[0].slice(0, 0, 3), {-0.45036882, 0.7898144, 0.747684}, 1e-7);
  EXPECT_FALSE(data.is_synthetic);
}

TEST(Quadratic, HasThePublishedLosses) {
  const Problem problem = find_problem("quadratic_deep");
  const Model model = problem.build();
  const DataSet data = load_data(problem.data_set);
  const auto loss = [&](Part part, int64_t batch_size) {
    return evaluate(problem, model, data, part, batch_size).loss;
  };
  EXPECT_NEAR(loss(Part::kTest, 128), 353.4468, 1e-3);
  EXPECT_NEAR(loss(Part::kValid, 128), 353.8128, 1e-3);
  EXPECT_NEAR(loss(Part::kTrain, 1000), 353.7065, 1e-3);

  const torch::NoGradGuard no_grad;
  Tensor theta = model.module->parameters()[0];
  theta.copy_(data.train.inputs.mean(0));
  EXPECT_NEAR(loss(Part::kTest, 128), 87.0460, 1e-3);
  EXPECT_NEAR(loss(Part::kTrain, 1000), 84.7697, 1e-3);
  theta.zero_();
  EXPECT_NEAR(loss(Part::kTest, 128), 86.9264, 1e-3);
}

}  // namespace
}  // namespace flightdeck::suite

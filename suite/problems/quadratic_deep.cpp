// SPDX-License-Identifier: MIT
// The quadratic of DeepOBS on the thesis's scale: the loss of a point x is
// (theta - x)^T Q (theta - x) / 2. theta starts at ones.
//
// The network gives r = sqrt(diag(e)) B (theta - x), where Q = B^T diag(e) B, and the loss is
// |r|^2 / 2: a square loss behind a linear layer, which every curvature rule knows.
#include <torch/torch.h>

#include "suite/problem.h"
#include "suite/quadratic.h"

namespace flightdeck::suite::problems {
namespace {

class ResidualImpl : public torch::nn::Module {
 public:
  ResidualImpl() : theta_(register_parameter("theta", torch::ones({kQuadraticDimensions}))) {
    const Quadratic drawn = quadratic();
    const Tensor root = drawn.eigenvalues.sqrt().unsqueeze(1) * drawn.basis;
    root_ = register_buffer("root", root.to(torch::kFloat));
  }

  Tensor forward(const Tensor& points) { return torch::linear(theta_ - points, root_); }

 private:
  Tensor theta_, root_;
};
TORCH_MODULE(Residual);

Model build() {
  Residual residual;
  return {residual.ptr(),
          [residual](const Tensor& points) mutable { return residual->forward(points); }};
}

Tensor half_squares(const Tensor& residuals, const Tensor& targets) {
  return torch::mse_loss(residuals, targets, at::Reduction::None).sum(1).mul(0.5);
}

Batch random_batch(int64_t N) {
  Batch batch;
  batch.inputs = torch::randn({N, kQuadraticDimensions}).mul_(0.6);
  batch.targets = torch::zeros({N, kQuadraticDimensions});
  return batch;
}

}  // namespace

Problem quadratic_deep() {
  Problem problem;
  problem.name = "quadratic_deep";
  problem.summary = "noisy quadratic in 100 dimensions, condition number 9621";
  problem.data_set = "quadratic";
  problem.parameters = 100;
  problem.benchmark_place = 1;
  problem.target = 87.70315464772136;
  problem.build = &build;
  problem.losses = &half_squares;
  problem.random_batch = &random_batch;
  return problem;
}

}  // namespace flightdeck::suite::problems

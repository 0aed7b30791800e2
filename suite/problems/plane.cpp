// SPDX-License-Identifier: MIT
#include "suite/problems/plane.h"

#include <torch/torch.h>

namespace flightdeck::suite {

Problem noisy_plane(const nets::PlaneFunction& f, double u, double v) {
  Problem problem;
  problem.data_set = "two_d";
  problem.parameters = 2;
  problem.has_published_budget = false;
  problem.build = [f, u, v] { return nets::plane(f, u, v); };
  problem.losses = [](const Tensor& outputs, const Tensor&) { return outputs; };
  problem.random_batch = [](int64_t N) {
    Batch batch;
    batch.inputs = torch::randn({N, 2});
    batch.targets = torch::zeros({N});
    return batch;
  };
  return problem;
}

}  // namespace flightdeck::suite

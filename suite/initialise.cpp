// SPDX-License-Identifier: MIT
#include "suite/initialise.h"

#include <string>

#include <torch/torch.h>

namespace flightdeck::suite {

void truncated_normal_(at::Tensor weight, double sigma) {
  torch::NoGradGuard no_grad;
  weight.normal_(0.0, sigma);
  for (;;) {
    const at::Tensor outside = weight.abs() > 2.0 * sigma;
    const int64_t count = outside.sum().item<int64_t>();
    if (count == 0) return;
    weight.masked_scatter_(outside, torch::randn({count}, weight.options()) * sigma);
  }
}

void initialise(torch::nn::Module& module,
                const std::function<void(at::Tensor)>& weights,
                double bias) {
  torch::NoGradGuard no_grad;
  for (auto& item : module.named_parameters()) {
    const std::string leaf = item.key().substr(item.key().rfind('.') + 1);
    if (leaf == "weight") weights(item.value());
    if (leaf == "bias") item.value().fill_(bias);
  }
}

void initialise_matrices(torch::nn::Module& module,
                         const std::function<void(at::Tensor)>& weights,
                         double bias) {
  const auto matrices = [&weights](at::Tensor weight) {
    if (weight.dim() > 1) weights(weight);
  };
  initialise(module, matrices, bias);
}

void glorot_(at::Tensor weight) {
  if (weight.dim() == 4) {
    torch::nn::init::xavier_normal_(weight);
  } else {
    torch::nn::init::xavier_uniform_(weight);
  }
}

}  // namespace flightdeck::suite

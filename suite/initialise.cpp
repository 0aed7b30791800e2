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

}  // namespace flightdeck::suite

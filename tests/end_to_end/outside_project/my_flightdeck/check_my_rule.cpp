// SPDX-License-Identifier: MIT
// The test of the rule: what it says, against the op itself.
#include <iostream>

#include <torch/torch.h>

#include "my_op.h"
#include <flightdeck/check_rule.h>

int main() {
  const auto doubles = torch::dtype(torch::kDouble);
  const torch::Tensor w = torch::randn({4, 3}, doubles).requires_grad_();
  const torch::Tensor v = torch::randn({3, 2}, doubles).requires_grad_();
  const torch::Tensor hidden = ScaledProduct::apply(torch::randn({5, 4}, doubles), w).tanh();
  const torch::Tensor losses = ScaledProduct::apply(hidden, v).square().sum(1);
  const auto check = flightdeck::check_rule("my_rule", losses, std::vector<torch::Tensor>{w, v});
  std::cout << check.text();
  return check.is_right() ? 0 : 1;
}

// SPDX-License-Identifier: MIT
// Individual gradients of a least-squares loss: g_n = 2 (x_n w - y_n) x_n with w = 1, y = 0.
#include <cmath>
#include <iostream>

#include <ATen/ATen.h>

#include <flightdeck/flightdeck.h>

int main() {
  const at::Tensor x = at::arange(1, 4, at::kFloat).unsqueeze(1);  // [N, 1]
  const at::Tensor w = at::ones({1, 1}).set_requires_grad(true);
  const at::Tensor losses = x.mm(w).square().sum(1);  // [N]

  const flightdeck::Gradients result =
      flightdeck::gradients(losses, std::vector<at::Tensor>{w}, flightdeck::Need::kNorms);
  const at::Tensor norms = result.parameters.at(0).norms;
  const at::Tensor expected = x.square().mul(2).squeeze(1);
  std::cout << norms << "\n";
  return at::allclose(norms.to(at::kFloat), expected) ? 0 : 1;
}

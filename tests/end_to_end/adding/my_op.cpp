// SPDX-License-Identifier: MIT
// A graph with a node that only the freshly added rule knows: its parameters must be exact-fast.
#include <iostream>

#include <ATen/ATen.h>
#include <torch/csrc/autograd/functions/utils.h>

#include "flightdeck/flightdeck.h"
#include "graph/torch_compat.h"

namespace ag = torch::autograd;

struct MyOpBackward0 : ag::Node {
  at::Tensor input;
  ag::variable_list apply(ag::variable_list&& gradients) override {
    return {gradients[0] * input.cosh()};
  }
  std::string name() const override { return "MyOpBackward0"; }
};

at::Tensor my_op(const at::Tensor& input) {
  auto* node = new MyOpBackward0();
  const auto owner = flightdeck::compat::take_new(node);
  node->set_next_edges(ag::collect_next_edges(input));
  node->input = input.detach();
  at::Tensor output = input.detach().sinh();
  ag::set_history(output, owner);
  return output;
}

int main() {
  at::Tensor weight = at::randn({4, 3}, at::kDouble).requires_grad_();
  const at::Tensor inputs = at::randn({5, 4}, at::kDouble);
  const at::Tensor losses = my_op(inputs.mm(weight)).sum(1);
  const auto result =
      flightdeck::gradients(losses, std::vector<at::Tensor>{weight}, flightdeck::Need::kIndividual);
  // d sinh(x W) / dW, one sample at a time.
  const at::Tensor expected = at::einsum("ni,nj->nij", {inputs, inputs.mm(weight).detach().cosh()});
  const double error = (result.parameters[0].individual - expected).abs().max().item<double>();
  const bool is_fast = result.coverage.parameters[0].level == flightdeck::CoverageLevel::kExactFast;
  std::cout << result.coverage.text() << "largest error " << error << "\n";
  return is_fast && error < 1e-12 ? 0 : 1;
}

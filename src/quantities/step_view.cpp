// SPDX-License-Identifier: MIT
#include <ATen/ATen.h>

#include "flightdeck/quantity.h"

namespace flightdeck {

Tensor StepView::group_sums(const std::vector<Tensor>& per_parameter) const {
  TORCH_CHECK(per_parameter.size() == parameters().size(),
              "group_sums: ",
              per_parameter.size(),
              " tensors for ",
              parameters().size(),
              " parameters; give one for each");
  const Tensor all = at::stack(per_parameter).to(at::kDouble);  // [P, ...]
  if (groups().size() == 1) return all.sum(0, /*keepdim=*/true);
  // Sums by index, not by a product with a 0/1 matrix: NaN of one group must not reach the others.
  std::vector<int64_t> member, group;
  for (size_t g = 0; g < groups().size(); ++g) {
    for (size_t p : groups().members[g]) {
      member.push_back(static_cast<int64_t>(p));
      group.push_back(static_cast<int64_t>(g));
    }
  }
  std::vector<int64_t> sizes = all.sizes().vec();
  sizes[0] = static_cast<int64_t>(groups().size());
  return at::zeros(sizes, all.options())
      .index_add_(0,
                  at::tensor(group, at::kLong).to(all.device()),
                  all.index_select(0, at::tensor(member, at::kLong).to(all.device())));
}

Tensor StepView::group_sizes() const {
  std::vector<double> sizes;
  for (const auto& members : groups().members) {
    double size = 0;
    for (size_t p : members) size += static_cast<double>(parameters()[p].tensor.numel());
    sizes.push_back(size);
  }
  return at::tensor(sizes, at::kDouble).to(parameters()[0].tensor.device());
}

Tensor StepView::squared_norms() const {
  std::vector<Tensor> squares;
  for (const ParameterGradients& parameter : gradients().parameters) {
    squares.push_back(parameter.norms.to(at::kDouble).square());
  }
  return group_sums(squares);
}

Tensor StepView::mean_dots() const { return group_sums(gradients(&ParameterGradients::mean_dots)); }

std::vector<Tensor> StepView::gradients(Tensor ParameterGradients::*field) const {
  std::vector<Tensor> tensors;
  for (const ParameterGradients& parameter : gradients().parameters) {
    tensors.push_back(parameter.*field);
  }
  return tensors;
}

}  // namespace flightdeck

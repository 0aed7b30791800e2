// SPDX-License-Identifier: MIT
#include <ATen/ATen.h>

#include "flightdeck/quantity.h"
#include "passes/gradient_fields.h"
#include "quantities/group_numbers.h"
#include "quantities/group_sums.h"
#include "quantities/rounding_noise.h"
#include "rows/rounding.h"

namespace flightdeck {

const std::vector<UpdateFormula>& StepView::update_formulas() const {
  static const std::vector<UpdateFormula> none;
  return none;
}

Tensor StepView::group_sums(const std::vector<Tensor>& per_parameter) const {
  return sum_by_group(per_parameter, groups());
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
  if (!squared_norms_.defined()) {
    std::vector<Tensor> norms = gradients(&ParameterGradients::norms);
    squared_norms_ = sum_stacked_by_group(at::stack(norms).to(at::kDouble).square(), groups());
  }
  return squared_norms_;
}

Tensor StepView::mean_dots() const {
  if (!mean_dots_.defined()) {
    mean_dots_ = group_sums(gradients(&ParameterGradients::mean_dots));
  }
  return mean_dots_;
}

Tensor StepView::squared_mean() const {
  const Tensor dots = mean_dots();
  if (!dots.is_cpu()) return dots.mean(1).clamp_min_(0);
  const GroupNumbers numbers(dots);
  return for_each_group(numbers.groups(),
                        [&](int64_t g) { return at_least_zero(numbers.mean(g)); });
}

Tensor StepView::deviations() const {
  if (!deviations_.defined()) {
    deviations_ = group_sums(gradients(&ParameterGradients::deviations));
  }
  return deviations_;
}

Tensor StepView::rounding_share(const Tensor& scatter) const {
  if (!rounding_noise_.defined()) {
    rounding_noise_ = sum_stacked_by_group(rounding_noise(*this, squared_means(*this)), groups());
  }
  const Tensor lengths = squared_mean();
  if (!scatter.is_cpu() || scatter.dim() != 1) {
    return rounding_error(scatter, lengths, rounding_noise_, batch_size()) / scatter;
  }
  const GroupNumbers all(scatter), length(lengths), noise(rounding_noise_);
  return for_each_group(all.groups(), [&](int64_t g) {
    return rounding_error(all[g], length[g], noise[g], batch_size()) / all[g];
  });
}

std::vector<Tensor> StepView::gradients(Tensor ParameterGradients::*field) const {
  const Gradients& all = gradients();
  std::vector<Tensor> tensors;
  for (size_t p = 0; p < all.parameters.size(); ++p) {
    check_field(all, p, field);
    tensors.push_back(all.parameters[p].*field);
  }
  return tensors;
}

}  // namespace flightdeck

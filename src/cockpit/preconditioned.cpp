// SPDX-License-Identifier: MIT
#include "cockpit/preconditioned.h"

#include <utility>

#include <ATen/ATen.h>

namespace flightdeck {
namespace {

class Scaled final : public LinearOperator {
 public:
  Scaled(std::shared_ptr<const LinearOperator> unscaled, Tensor scale)
      : unscaled_(std::move(unscaled)), scale_(std::move(scale)) {}
  int64_t dim() const override { return unscaled_->dim(); }
  at::TensorOptions options() const override { return unscaled_->options(); }
  Tensor multiply(const Tensor& vectors) const override {
    return unscaled_->multiply(vectors * scale_) * scale_;
  }

 private:
  std::shared_ptr<const LinearOperator> unscaled_;
  Tensor scale_;  // [D]
};

}  // namespace

std::shared_ptr<const LinearOperator> preconditioned(std::shared_ptr<const LinearOperator> matrix,
                                                     const std::vector<UpdateFormula>& formulas,
                                                     const Parameters& parameters) {
  TORCH_CHECK_VALUE(formulas.size() == parameters.size(),
                    "preconditioned spectrum: update formulas of ",
                    formulas.size(),
                    " of ",
                    parameters.size(),
                    " parameters are known on this rank; tell the optimizer to watch on all ranks");
  std::vector<Tensor> parts;
  for (size_t p = 0; p < parameters.size(); ++p) {
    const Tensor rates =
        at::full({parameters[p].tensor.numel()}, formulas[p].rate, matrix->options());
    const Tensor& scale = formulas[p].scale;
    parts.push_back(scale.defined() ? rates / scale.flatten().to(matrix->options()) : rates);
  }
  Tensor root = at::cat(parts).sqrt();
  return std::make_shared<Scaled>(std::move(matrix), std::move(root));
}

}  // namespace flightdeck

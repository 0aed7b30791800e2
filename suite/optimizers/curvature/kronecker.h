// SPDX-License-Identifier: MIT
// Preconditioning by Kronecker factors A (inputs) and B (outputs) of each weight:
// x <- x - rate (A + pi sqrt(damping) I)^-1 ⊗ (B + sqrt(damping) / pi I)^-1 g, pi² the ratio of the
// mean diagonals of A and B; a bias has its whole block, damped exactly.
#pragma once

#include "flightdeck/kronecker.h"
#include "suite/optimizers/curvature/preconditioned.h"

namespace flightdeck::suite {

class KroneckerOptions : public PreconditionedOptions {
 public:
  KroneckerOptions() {
    learning_rate = 1e-2;
    damping = 1e-2;
  }

  const std::vector<std::string>& state_names() const override {
    static const std::vector<std::string> names = {"output", "input"};
    return names;
  }
  std::vector<int64_t> state_shape(size_t index, const Tensor& parameter) const override {
    const int64_t outputs = parameter.dim() == 0 ? 1 : parameter.size(0);
    const int64_t lines = index == 0 ? outputs : parameter.numel() / outputs;
    return {lines, lines};
  }
  Preconditioner prepare(const std::vector<Tensor>& measured, double l2) const override {
    KroneckerFactors both;
    both.output = measured[0];
    if (measured.size() > 1) both.input = measured[1];
    const auto inverse = kronecker_inverse(both, damping + l2);
    return [inverse](const Tensor& gradient) {
      return inverse->multiply(gradient.reshape({1, -1})).view(gradient.sizes());
    };
  }

 protected:
  virtual const KroneckerFactors& factors(const ParameterCurvature& answers) const = 0;

  std::vector<Tensor> kept(const ParameterCurvature& answers,
                           const NamedParameter& parameter) const override {
    const KroneckerFactors& found = factors(answers);
    TORCH_CHECK_VALUE(found.defined(),
                      name(),
                      ": parameter '",
                      parameter.name,
                      "' ",
                      parameter.tensor.sizes(),
                      " has no Kronecker factors (embeddings, grouped and transposed convolutions, "
                      "weights that are tied or used in slices, long vectors and batches of one "
                      "sample have none); use diag_ggn_mc, diag_ggn or hbp_ggn");
    if (!found.input.defined()) return {found.output};
    return {found.output, found.input};
  }
};

}  // namespace flightdeck::suite

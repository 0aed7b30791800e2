// SPDX-License-Identifier: MIT
// The Hessians of the losses the engine knows, and of any other one.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "curvature/loss_head.h"

namespace flightdeck {

// Makes weight (diag(p) - p pᵀ) for each position, of rank C - 1. p and weight share all
// dimensions but `dim`, where the weight has size 1.
std::shared_ptr<const LossHessian> softmax_hessian(Tensor p,
                                                   Tensor weight,
                                                   int64_t dim,
                                                   const Layout& layout);

// Makes diag(h), h >= 0. With `p` defined, would-be gradients are those of a Bernoulli variable
// with this probability; otherwise those of a Gaussian.
std::shared_ptr<const LossHessian> diagonal_hessian(Tensor h, Tensor p, const Layout& layout);

// Splits H [N, m, m], with m the entries of one sample.
HessianParts dense_hessian(const Tensor& H,
                           const Shape& outputs,
                           const Layout& layout,
                           std::vector<std::string>& remarks);

// Turns parts over the real numbers [*outputs, 2] of complex outputs into parts over the outputs.
HessianParts of_complex_outputs(const HessianParts& parts);

// Turn [L, *outputs] into [L, N, m], one line per sample, and back.
Tensor per_sample(const Tensor& stack, const Layout& layout);
Tensor from_per_sample(const Tensor& lines, const Shape& outputs, const Layout& layout);

}  // namespace flightdeck

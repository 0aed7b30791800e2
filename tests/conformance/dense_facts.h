// SPDX-License-Identifier: MIT
// Gradients and curvature of a small adverse model, written out by plain autograd.
#pragma once

#include <vector>

#include "conformance/adverse_model.h"

namespace flightdeck::tests {

class DenseFacts {
 public:
  // Of these samples alone, in this order; empty means all. Means are over them.
  DenseFacts(uint64_t seed,
             const AdverseModel& model,
             SharedTerms shared,
             const std::vector<int64_t>& samples = {});

  Tensor rows;     // [N, D]: g_n
  Tensor hessian;  // of the mean loss, [D, D]
  // Generalised Gauss-Newton matrix of the mean loss, [D, D]: cut at the model's outputs and,
  // where parameters go past them, at those.
  Tensor ggn;
  // The same cut at the outputs alone.
  Tensor outputs_ggn;

  int64_t N() const { return rows.size(0); }
  Tensor fisher() const;  // (1/N) sum_n g_n g_nᵀ
  // Diagonals of the Hessians of l_n, [N, D]. Takes N times as long as the Hessian.
  Tensor hessian_diagonals() const;
  // The GGN with the Hessian of every l_n replaced by its positive part.
  Tensor positive_ggn() const;

 private:
  AdverseModel twin_;
  Tensor terms_;  // of the chosen samples
  std::vector<Tensor> leaves_;
  std::vector<Tensor> cut_;  // what the loss is a function of
  Tensor jacobian_;          // of that, [M, D]
};

// Rounding grows with depth and with the spread of second derivatives.
double second_order_tolerance(const AdverseModel& model);

}  // namespace flightdeck::tests

// SPDX-License-Identifier: MIT
// Small models that between them contain every op the catalogue of rules explains.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tensors.h"

namespace flightdeck::tests {

// A model of one op (and what it takes to reach it). `op` maps x [N, *sample] and a parameter p to
// outputs [N, ...]; the entries of both are between 0.15 and 0.85, those of x plus `shift`.
struct OpCase {
  std::string name;
  std::function<Tensor(const Tensor& x, const Tensor& p)> op;
  std::vector<int64_t> sample = {4, 6};
  std::vector<int64_t> parameter = {};  // its shape; empty: that of a sample
  double shift = 0;
};

using OpCases = std::vector<OpCase>;
OpCases pointwise_cases();
OpCases reduction_cases();
OpCases rearrangement_cases();
OpCases image_cases();
OpCases layer_cases();
OpCases loss_cases();
OpCases complex_cases();
OpCases newer_cases();  // of what LibTorch 1.13 cannot differentiate
OpCases all_op_cases();

}  // namespace flightdeck::tests

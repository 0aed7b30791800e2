// SPDX-License-Identifier: MIT
// A curvature matrix as the optimizer's steps meet it.
#pragma once

#include <memory>
#include <vector>

#include "flightdeck/operator.h"
#include "flightdeck/quantity.h"

namespace flightdeck {

// Returns S A S with S² the rate over the scale of every entry. Throws if there is not a formula
// for each parameter.
std::shared_ptr<const LinearOperator> preconditioned(std::shared_ptr<const LinearOperator> matrix,
                                                     const std::vector<UpdateFormula>& formulas,
                                                     const Parameters& parameters);

}  // namespace flightdeck

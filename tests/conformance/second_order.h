// SPDX-License-Identifier: MIT
// Second-order questions about a random model, against plain autograd and against each other.
#pragma once

#include <string>
#include <vector>

#include "conformance/random_model.h"

namespace flightdeck::tests {

// One line per answer that is wrong; empty when the engine is right:
// - each node's tangents and columns are adjoint, <J v, u> = <v, Jᵀ u>;
// - products with Hessian, GGN and empirical Fisher equal double backward passes of autograd;
// - entries of the diagonals are those of the products; traces and Gram spectra agree.
std::vector<std::string> second_order_differences(const RandomModel& model, Sketch& dice);

}  // namespace flightdeck::tests

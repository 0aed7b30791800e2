// SPDX-License-Identifier: MIT
// Curvature propagated as one matrix for the whole batch (KFRA, Hessian backpropagation with batch
// averages), for chains of layers.
#pragma once

#include <vector>

#include "curvature/context.h"
#include "flightdeck/kronecker.h"

namespace flightdeck {

/// KFRA's factors, one entry per parameter; undefined where the parameter has no such structure.
std::vector<KroneckerFactors> averaged_factors(CurvatureContext& context);

}  // namespace flightdeck

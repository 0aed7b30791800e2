// SPDX-License-Identifier: MIT
// Small models with complex tensors between real parameters and losses.
#pragma once

#include <vector>

#include "curvature/models.h"

namespace flightdeck::tests {

const std::vector<ModelCase>& complex_models();

}  // namespace flightdeck::tests

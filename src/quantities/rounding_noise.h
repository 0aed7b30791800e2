// SPDX-License-Identifier: MIT
// What rounding leaves of each parameter's gradients.
#pragma once

#include "flightdeck/quantity.h"

namespace flightdeck {

// Returns ||g||² of each parameter, [P] in double; needs kMeanDots.
Tensor squared_means(const StepView& step);

// Returns the squared length of the rounding in one g_n, per parameter, [P] in double.
Tensor rounding_noise(const StepView& step, const Tensor& squared_means);

}  // namespace flightdeck

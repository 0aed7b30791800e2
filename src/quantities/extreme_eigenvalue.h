// SPDX-License-Identifier: MIT
// The eigenvalue at one end of a curvature matrix's spectrum: what hess_max_ev and hess_min_ev
// share.
#pragma once

#include "flightdeck/quantity.h"

namespace flightdeck {

enum class SpectrumEnd { kLargest, kSmallest };

// Adds needs, settings and computation.
void set_extreme_eigenvalue(Quantity& quantity, Settings& settings, SpectrumEnd end);

}  // namespace flightdeck

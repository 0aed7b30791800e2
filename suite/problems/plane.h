// SPDX-License-Identifier: MIT
// What the problems with two parameters have in common.
#pragma once

#include "suite/nets/plane.h"

namespace flightdeck::suite {

/// Makes the problem of the noisy function f from its starting point (u, v): the loss of a point
/// (x, y) is f(u, v) + u x + v y.
Problem noisy_plane(const nets::PlaneFunction& f, double u, double v);

}  // namespace flightdeck::suite

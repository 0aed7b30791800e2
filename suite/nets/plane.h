// SPDX-License-Identifier: MIT
// Two parameters in a plane, for functions that can be drawn.
#pragma once

#include <functional>

#include "suite/problem.h"

namespace flightdeck::suite::nets {

/// An elementwise function; u, v [N] -> [N].
using PlaneFunction = std::function<Tensor(const Tensor& u, const Tensor& v)>;

/// Makes parameters "u" and "v", which start at the given values. Points (x, y), inputs [N, 2],
/// give the outputs f(u, v) + u x + v y, [N].
Model plane(PlaneFunction f, double u, double v);

}  // namespace flightdeck::suite::nets

// SPDX-License-Identifier: MIT
// The quantities of `flightdeck bench first-order`.
#pragma once

#include <vector>

#include "cli/bench/turns.h"

namespace flightdeck::cli {

// How the quantity is asked for.
enum class FirstOrderPath {
  kGradients,   // flightdeck::gradients instead of backward(); the mean gradient is asked for too
  kWatch,       // Watch beside losses.mean().backward()
  kWatchReuse,  // the same with reuse_gradients
};

// Returns them in the order they are measured by default. Each is checked by the mean gradient,
// which it delivers too.
std::vector<BenchQuantity> first_order_quantities(FirstOrderPath path);

}  // namespace flightdeck::cli

// SPDX-License-Identifier: MIT
// Captured nodes applied as the program's own backward pass applies them, but for those that have
// work of the program's behind them: these are never called, and what they would hand on is copied.
#pragma once

#include <vector>

#include "graph/apply_node.h"
#include "passes/capture.h"

namespace flightdeck {

// Returns true if every input is an output at the same place and the node itself must not be
// called.
bool hands_on(const CapturedNode& captured);

// Computes the gradients of the inputs that are wanted, from those of the outputs. See apply_node.
variable_list apply_captured(const CapturedNode& captured,
                             variable_list gradients,
                             const std::vector<bool>& wanted);

}  // namespace flightdeck

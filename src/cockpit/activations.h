// SPDX-License-Identifier: MIT
// Outputs of nonlinearities, read from what the graph saved for its backward pass.
#pragma once

#include <vector>

#include "flightdeck/quantity.h"
#include "passes/capture.h"

namespace flightdeck {

// Returns them from the inputs to the loss, without nonlinearities whose output the graph does not
// tell.
std::vector<Activation> read_activations(const Capture& capture, const Parameters& parameters);

}  // namespace flightdeck

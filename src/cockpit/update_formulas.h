// SPDX-License-Identifier: MIT
// How the optimizers of LibTorch turn gradients into steps, read from their options and state.
#pragma once

#include <vector>

#include "flightdeck/cockpit.h"

namespace flightdeck {

// Returns one formula per parameter, as the next step will apply it. There is none if neither an
// optimizer of a known kind nor formulas were told, or they lack a parameter.
std::vector<UpdateFormula> read_update_formulas(const StepOptions& options,
                                                const Parameters& parameters);

}  // namespace flightdeck

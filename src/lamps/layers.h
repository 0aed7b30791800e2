// SPDX-License-Identifier: MIT
// What the lamps have in common that are lit by a share of units, layer by layer.
#pragma once

#include <functional>
#include <string>

#include "flightdeck/lamp.h"

namespace flightdeck::lamps {

// Lights the lamp by layers (fields of the quantity) whose share was above `limit` at most of the
// last steps that were tracked. `describe` writes what is no number.
void light_by_shares_above(
    Lamp& lamp,
    double limit,
    const std::string& quantity,
    const std::string& what,  // "of the relu units are zero for every sample of the batch"
    std::function<void(Finding&)> describe);

}  // namespace flightdeck::lamps

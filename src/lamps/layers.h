// SPDX-License-Identifier: MIT
// What the lamps have in common that are lit by a share of units, layer by layer.
#pragma once

#include <functional>
#include <string>

#include "flightdeck/lamp.h"

namespace flightdeck::lamps {

// Returns a `look` that finds the layers (fields of the quantity) where the share was above `limit`
// at most of the last steps that were tracked. `describe` writes what is no number.
std::function<std::vector<Finding>(const LampView&)> for_shares_above(
    double limit,
    const std::string& quantity,
    const std::string& what,  // "of the relu units are zero for every sample of the batch"
    std::function<void(Finding&)> describe);

}  // namespace flightdeck::lamps

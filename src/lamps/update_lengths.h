// SPDX-License-Identifier: MIT
// What the lamps have in common that are lit by the length of steps beside that of the parameters.
#pragma once

#include <string>

#include "flightdeck/lamp.h"

namespace flightdeck::lamps {

// Fills in step, quantity, evidence and the factor that brings a step to `usual` times the length
// of the parameters. `logarithm` is what update_ratio has; `where` ends what is said of it.
void tell_update_length(
    Finding& finding, int64_t step, double logarithm, double usual, const std::string& where);

// Writes "Divide the learning rate by about 30" or "Multiply the learning rate by about 30".
std::string rate_advice(double factor);

}  // namespace flightdeck::lamps

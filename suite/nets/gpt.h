// SPDX-License-Identifier: MIT
// A small GPT on characters.
#pragma once

#include "suite/problem.h"

namespace flightdeck::suite::nets {

/// Characters [N, 50] to logits [N, 83, 50]; those at a place depend on it and the places before.
Model gpt();

}  // namespace flightdeck::suite::nets

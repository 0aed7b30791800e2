// SPDX-License-Identifier: MIT
// What reactions to lamps touch of a training of the suite.
#pragma once

#include "flightdeck/reactions.h"

namespace flightdeck::run {

class Training;

/// Has to be outlived by the training. A factor counts from the step after this one on, as its
/// schedule sets the rate of each step at its beginning.
ReactingLoop loop_of(Training& training);

}  // namespace flightdeck::run

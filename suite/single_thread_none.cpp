// SPDX-License-Identifier: MIT
// Built where OpenMP was not found.
#include "suite/single_thread.h"

namespace flightdeck::suite {

void use_single_thread() {}

}  // namespace flightdeck::suite

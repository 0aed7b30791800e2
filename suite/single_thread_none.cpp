// SPDX-License-Identifier: MIT
// What single_thread.h has in a build without OpenMP.
#include "suite/single_thread.h"

namespace flightdeck::suite {

void use_single_thread() {}

}  // namespace flightdeck::suite

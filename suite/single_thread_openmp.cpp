// SPDX-License-Identifier: MIT
#include <omp.h>

#include "suite/single_thread.h"

namespace flightdeck::suite {

void use_single_thread() { omp_set_num_threads(1); }

}  // namespace flightdeck::suite

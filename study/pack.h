// SPDX-License-Identifier: MIT
// Outcomes made small enough to be kept with a project.
#pragma once

#include <string>
#include <vector>

#include "study/outcome.h"

namespace flightdeck::study {

// One outcome to a line. Scores have six significant digits; of tuning runs that were not repeated
// with other seeds only the first, the reported and the last evaluation are kept; losses of
// mini-batches and runs that were interrupted are left out.
std::string packed(const std::vector<Outcome>& outcomes);

}  // namespace flightdeck::study

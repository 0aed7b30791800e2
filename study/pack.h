// SPDX-License-Identifier: MIT
// Outcomes made small enough to be kept with a project.
#pragma once

#include <string>
#include <vector>

#include "study/outcome.h"

namespace flightdeck::study {

// Writes one outcome to a line. Scores have six significant digits. Tuning runs that were not
// repeated with other seeds keep only the first, the reported and the last evaluation. Losses of
// mini-batches and interrupted runs are left out.
std::string packed(const std::vector<Outcome>& outcomes);

}  // namespace flightdeck::study

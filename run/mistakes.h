// SPDX-License-Identifier: MIT
// The samples that a run's model takes for another class, as readings of its record.
#pragma once

#include <vector>

#include "flightdeck/reading.h"
#include "suite/evaluate.h"

namespace flightdeck::run {

// Returns the number "misclassified" with the lists "ids", "labels", "predictions" and "losses" of
// the worst; no lists if there is none. Where classes were counted, adds the histogram "confusion"
// over labels and predictions.
std::vector<Reading> readings_of(const suite::Mistakes& mistakes);

}  // namespace flightdeck::run

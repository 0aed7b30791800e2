// SPDX-License-Identifier: MIT
// Numbers as people read them.
#pragma once

#include <string>

#include "study/analysis/measure.h"
#include "study/statistics.h"

namespace flightdeck::study {

// Writes `digits` behind the point: "12.3"; "-" for what is not a number, "inf".
std::string fixed(double value, int digits);
// Writes `digits` significant ones: "0.0123", "1.2e-05".
std::string significant(double value, int digits);

// Writes accuracies in percent with two decimals, losses with four digits.
std::string score_text(const Measure& measure, double score);
// Writes "92.34 ± 0.28", "87.11 ± 0.02".
std::string spread_text(const Measure& measure, const Spread& spread);
// Writes "+2.4 %" for 0.024.
std::string gain_text(double relative);

}  // namespace flightdeck::study

// SPDX-License-Identifier: MIT
#include "study/analysis/number_text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace flightdeck::study {
namespace {

std::string printed(const char* format, int digits, double value) {
  if (std::isnan(value)) return "-";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  char text[64];
  std::snprintf(text, sizeof text, format, digits, value);
  return text;
}

// Returns how many decimals show a loss with four digits.
int digits_of_loss(double value) {
  if (!(std::fabs(value) > 0)) return 3;
  return std::clamp(3 - static_cast<int>(std::floor(std::log10(std::fabs(value)))), 0, 6);
}

}  // namespace

std::string fixed(double value, int digits) {
  // A huge number would show digits that mean nothing.
  return std::fabs(value) >= 1e6 ? printed("%.*g", 3, value) : printed("%.*f", digits, value);
}

std::string significant(double value, int digits) { return printed("%.*g", digits, value); }

std::string score_text(const Measure& measure, double score) {
  return measure.is_accuracy ? fixed(100 * score, 2) : fixed(score, digits_of_loss(score));
}

std::string spread_text(const Measure& measure, const Spread& spread) {
  if (spread.count < 2) return score_text(measure, spread.mean);
  const std::string deviation = measure.is_accuracy
                                    ? fixed(100 * spread.deviation, 2)
                                    : fixed(spread.deviation, digits_of_loss(spread.mean));
  return score_text(measure, spread.mean) + " ± " + deviation;
}

std::string gain_text(double relative) {
  if (std::isnan(relative)) return "-";
  return (relative >= 0 ? "+" : "") + fixed(100 * relative, 1) + " %";
}

}  // namespace flightdeck::study

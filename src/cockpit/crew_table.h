// SPDX-License-Identifier: MIT
// What every rank says of itself when a step ends: a line of numbers, by which all know what the
// others have and how much of it is exchanged next.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "cockpit/step.h"

namespace flightdeck {

// Names the numbers of a line. A light step has the first ones.
enum Column : int64_t {
  kSamples,
  kLoss,
  kKnowsLoss,
  kNoteSize,
  kOutside,
  kBackward,
  kLightColumns,
  kKnowsLosses = kLightColumns,
  kKnowsIds,
  kKnowsLabels,
  kKnowsPredictions,
  kHasGradients,
  kBringsRows,
  kStartSamples,
  kGradNorm,
  kParametersHigh,
  kParametersLow,
  kLossesHigh,
  kLossesLow,
  kRandomHigh,
  kRandomLow,
  kColumns,  // and then the size of what each quantity shares
};

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

using CrewLine = std::vector<double>;

// Writes what every step tells. It began `outside` seconds after the one before had ended.
void write_light(const Step& step, double outside, CrewLine& line);
// Writes what a step tells besides if it is no light one.
void write_rest(const Step& step, const StepContext& context, bool wants_rows, CrewLine& line);

// The lines of all ranks.
struct CrewTable {
  int64_t columns = 0;
  std::vector<double> numbers;  // [W, columns]

  int64_t W() const { return static_cast<int64_t>(numbers.size()) / columns; }
  double at(int64_t rank, int64_t column) const { return numbers[rank * columns + column]; }
  bool has_samples(int64_t rank) const { return at(rank, kSamples) > 0; }
  // Returns true if it is so on every rank that has samples.
  bool all_have(int64_t column) const;
  double sum(int64_t column) const { return sum_before(W(), column); }
  // Sums over the ranks before one.
  double sum_before(int64_t rank, int64_t column) const;
};

}  // namespace flightdeck

// SPDX-License-Identifier: MIT
// Squared mean over variance of the gradient's entries.
#pragma once

#include "flightdeck/quantity.h"

namespace flightdeck {

struct SignalToNoise {
  Tensor sums;            // [G]: sum_d g_d² / (factor variance_d + epsilon)
  Tensor rounding_share;  // [G]: estimated relative error of the sums by rounding
};

// Needs kMean and kVariance.
SignalToNoise signal_to_noise(const StepView& step, double factor, double epsilon);

}  // namespace flightdeck

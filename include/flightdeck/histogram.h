// SPDX-License-Identifier: MIT
// Bins for histograms of individual gradients.
#pragma once

#include <cstdint>

namespace flightdeck {

/// Bins of equal width over [low, high]; high itself belongs to the last bin.
struct Bins {
  double low = -2;
  double high = 2;
  int64_t count = 100;

  bool operator==(const Bins& other) const {
    return low == other.low && high == other.high && count == other.count;
  }
};

/// Gradient entries against the parameter entries they belong to.
struct JointBins {
  Bins gradients{-1, 1, 40};
  Bins parameters{-2, 2, 50};

  bool operator==(const JointBins& other) const {
    return gradients == other.gradients && parameters == other.parameters;
  }
};

}  // namespace flightdeck

// SPDX-License-Identifier: MIT
// How many numbers of lists and histograms one call may have in memory: a few bytes of a blob may
// stand for a million bins.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

#include "flightdeck/reading.h"

namespace flightdeck::record {

// Says that a call asks for more numbers than a reader gives, or that a blob stands for more.
struct TooManyNumbers : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class NumberBudget {
 public:
  explicit NumberBudget(int64_t numbers) : most_(numbers), left_(numbers) {}

  int64_t left() const { return left_; }

  // Hands on a reading and takes its numbers from the budget. Throws TooManyNumbers if too little
  // is left.
  Reading take(Reading reading) {
    left_ -= static_cast<int64_t>(reading.list.size() + reading.counts.size());
    if (left_ < 0) {
      throw TooManyNumbers("record: the readings have more than " + std::to_string(most_) +
                           " numbers; ask for fewer steps or series");
    }
    return reading;
  }

 private:
  int64_t most_, left_;
};

}  // namespace flightdeck::record

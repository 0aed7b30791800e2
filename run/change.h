// SPDX-License-Identifier: MIT
// What the advice of a diagnosis changes in a training: how FaultBench follows it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "run/fault.h"

namespace flightdeck::run {

struct Change {
  std::string name;     ///< as causes name it
  std::string summary;  ///< what is done, in one line
  /// True where a person has to look at data or code; FaultBench takes what the healthy training
  /// has.
  bool is_by_hand = false;
  /// `factor` is what the advice says a number is to be multiplied by, 0 where it says none;
  /// `source` is the healthy training.
  std::function<void(FaultyTraining& training, double factor, const FaultyTraining& source)> apply;
};

/// Returns those that causes of the catalogue name.
const std::vector<Change>& all_changes();
/// Returns null if there is none.
const Change* find_change(const std::string& name);

}  // namespace flightdeck::run

// SPDX-License-Identifier: MIT
// The learning rate of every parameter, as told or as the optimizer has it.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "flightdeck/cockpit.h"

namespace flightdeck {

// Reads what a step was told at once: the optimizer may be gone when the rates are asked for.
class LearningRates {
 public:
  explicit LearningRates(const StepOptions& options);

  // Throws if neither optimizer nor rate was given, or the optimizer lacks a parameter.
  std::vector<double> of(const Parameters& parameters) const;
  // Returns each rate once, ascending; nothing if none was given.
  std::vector<double> distinct() const;
  // Returns nothing if no optimizer was given.
  std::optional<Optimized> optimized(const Parameters& parameters) const;

 private:
  std::optional<double> told_;
  std::optional<std::vector<std::pair<const c10::TensorImpl*, double>>> of_optimizer_;
};

}  // namespace flightdeck

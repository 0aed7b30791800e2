// SPDX-License-Identifier: MIT
// Hyperparameters that several optimizers have.
#pragma once

#include "suite/optimizer.h"

namespace flightdeck::suite {

inline Hyperparameter positive(std::string name, std::string summary, double value) {
  Hyperparameter parameter;
  parameter.name = std::move(name);
  parameter.summary = std::move(summary);
  parameter.value = value;
  parameter.includes_low = false;
  return parameter;
}

/// In [0, 1).
inline Hyperparameter below_one(std::string name, std::string summary, double value) {
  Hyperparameter parameter = positive(std::move(name), std::move(summary), value);
  parameter.includes_low = true;
  parameter.high = 1.0;
  return parameter;
}

inline Hyperparameter not_negative(std::string name, std::string summary, double value) {
  Hyperparameter parameter = positive(std::move(name), std::move(summary), value);
  parameter.includes_low = true;
  return parameter;
}

// A rate of 0 is allowed: it stands still, which some experiments want.
inline Hyperparameter rate(double value) {
  return not_negative("learning_rate", "length of a step", value);
}
inline Hyperparameter momentum_share() {
  return below_one("momentum", "share of the last step that is kept", 0.9);
}
inline Hyperparameter beta1() { return below_one("beta1", "memory of the mean of gradients", 0.9); }
inline Hyperparameter beta2() {
  return below_one("beta2", "memory of the mean of squared gradients", 0.999);
}
inline Hyperparameter epsilon(double value) {
  return positive("epsilon", "added to the root in the denominator", value);
}
inline Hyperparameter weight_decay(double value = 0.0) {
  return not_negative("weight_decay", "pull of the parameters to 0", value);
}

}  // namespace flightdeck::suite

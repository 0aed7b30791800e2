// SPDX-License-Identifier: MIT
// The hyperparameters that optimizers share: meaning, allowed range, and where a random search
// draws them (Table 6.2 of the optimizer comparison; what it does not tune is fixed).
#pragma once

#include "suite/checked_optimizer.h"

namespace flightdeck::suite {

inline Search log_uniform(double low, double high) {
  return {Search::Kind::kLogUniform, low, high, false};
}
inline Search complement_log_uniform(double low, double high) {
  return {Search::Kind::kLogUniform, low, high, true};
}

inline Search one_of(std::vector<double> choices) {
  Search search;
  search.kind = Search::Kind::kOneOf;
  search.choices = std::move(choices);
  return search;
}

/// Allows values in [0, infinity).
inline Field not_negative(std::string name, std::string summary, double& value) {
  Hyperparameter about;
  about.name = std::move(name);
  about.summary = std::move(summary);
  about.value = value;
  return {about, &value};
}

/// Allows values in (0, infinity).
inline Field positive(std::string name, std::string summary, double& value) {
  Field field = not_negative(std::move(name), std::move(summary), value);
  field.about.includes_low = false;
  return field;
}

/// Allows values in [0, 1).
inline Field below_one(std::string name, std::string summary, double& value) {
  Field field = not_negative(std::move(name), std::move(summary), value);
  field.about.high = 1.0;
  return field;
}

inline Field whole(Field field) {
  field.about.is_whole = true;
  return field;
}

/// Allows 0 or 1.
inline Field yes_or_no(std::string name, std::string summary, double& value) {
  Field field = whole(not_negative(std::move(name), std::move(summary), value));
  field.about.high = 1.0;
  field.about.includes_high = true;
  return field;
}

inline Field searched(Field field, Search search) {
  field.about.search = search;
  return field;
}

// Allows a rate of 0, at which training stands still, as some experiments want.
inline Field rate_field(double& value) {
  return searched(not_negative("learning_rate", "length of a step", value), log_uniform(1e-4, 1.0));
}
inline Field momentum_field(double& value) {
  return searched(below_one("momentum", "share of the last step that is kept", value),
                  complement_log_uniform(1e-4, 1.0));
}
inline Field beta1_field(double& value) {
  return searched(below_one("beta1", "memory of the mean of gradients", value),
                  log_uniform(0.5, 0.999));
}
inline Field beta2_field(double& value) {
  return searched(below_one("beta2", "memory of the mean of squared gradients", value),
                  log_uniform(0.8, 0.999));
}
/// Describes the counterpart of beta2 in optimizers without beta1.
inline Field decay_field(double& value) {
  return searched(below_one("decay", "memory of the mean of squared gradients", value),
                  complement_log_uniform(1e-4, 1.0));
}
inline Field final_rate_field(double& value) {
  return searched(positive("final_rate", "where both bounds of the rate end", value),
                  log_uniform(1e-3, 0.5));
}
inline Field gamma_field(double& value) {
  return searched(below_one("gamma", "speed at which the bounds close", value),
                  log_uniform(1e-4, 1e-1));
}
inline Field slow_rate_field(double& value) {
  Field field = positive("slow_rate", "share of the way that the slow weights follow", value);
  field.about.high = 1.0;
  field.about.includes_high = true;
  return searched(field, log_uniform(1e-4, 1.0));
}
inline Field fast_steps_field(double& value) {
  const Field field =
      whole(positive("fast_steps", "steps between two moves of the slow weights", value));
  return searched(field, {Search::Kind::kWholeUniform, 1.0, 20.0, false});
}
inline Field epsilon_field(double& value) {
  return positive("epsilon", "keeps the denominator from 0", value);
}
inline Field start_field(double& value) {
  return not_negative("start", "squared gradients before the first step", value);
}
inline Field weight_decay_field(double& value) {
  return not_negative("weight_decay", "pull of the parameters to 0", value);
}

}  // namespace flightdeck::suite

// SPDX-License-Identifier: MIT
// The learning rate as the loop told it: a change that was made, not found.
#include "flightdeck/quantity.h"

namespace flightdeck::quantities {

Quantity learning_rate(Settings&) {
  return Quantity("learning_rate")
      .summary("Learning rate; of several the largest, and the smallest as a field")
      .reference("of the optimizer, or as told to watch; none where neither was given")
      .light(true)
      .gives_way(true)
      .compute([](const StepView& step) -> Value {
        const std::vector<double> rates = step.told_learning_rates();
        if (rates.empty()) return {};
        Value value(rates.back());
        if (rates.size() > 1) value.with("smallest", rates.front());
        return value;
      });
}

}  // namespace flightdeck::quantities

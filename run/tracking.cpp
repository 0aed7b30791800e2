// SPDX-License-Identifier: MIT
#include "run/tracking.h"

#include <algorithm>
#include <utility>

namespace flightdeck::run {

Tracking tracked_preset(const std::string& preset, const DueSteps& due) {
  Tracking tracking;
  tracking.preset = preset;
  tracking.due = due;
  if (preset != "none") tracking.quantities = flightdeck::preset(preset, due);
  return tracking;
}

Tracking tracked_preset(const std::string& preset) {
  const DueSteps otherwise = Tracking().due;
  return tracked_preset(preset,
                        preset == "none" ? otherwise : find_preset(preset).due.value_or(otherwise));
}

void track(Tracking& tracking, Quantity quantity) {
  std::vector<Quantity>& all = tracking.quantities;
  const auto same = std::find_if(all.begin(), all.end(), [&](const Quantity& other) {
    return other.name() == quantity.name();
  });
  if (same == all.end()) {
    all.push_back(std::move(quantity));
  } else {
    *same = std::move(quantity);
  }
}

}  // namespace flightdeck::run

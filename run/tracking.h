// SPDX-License-Identifier: MIT
// Which quantities a run computes, and when.
#pragma once

#include <string>
#include <vector>

#include "flightdeck/cockpit.h"
#include "flightdeck/due_steps.h"
#include "flightdeck/quantity.h"

namespace flightdeck::run {

struct Tracking {
  std::string preset = "none";  ///< its name, for the record; the quantities below are what counts
  DueSteps due = DueSteps::every(10);  ///< of what the run logs itself
  std::vector<Quantity> quantities;
  CockpitOptions cockpit;  ///< its seed and its warnings are the run's
};

/// Returns the quantities of a preset on due steps. "none" has none. Throws c10::ValueError, naming
/// the presets, on another name.
Tracking tracked_preset(const std::string& preset, const DueSteps& due);
/// Uses the preset's own steps, or every tenth where it has none.
Tracking tracked_preset(const std::string& preset);

/// Adds a quantity; one with the same name is replaced.
void track(Tracking& tracking, Quantity quantity);

}  // namespace flightdeck::run

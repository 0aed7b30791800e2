// SPDX-License-Identifier: MIT
// What a cockpit keeps from step to step, as named tensors.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cockpit/plan.h"
#include "cockpit/step.h"

namespace flightdeck {

std::map<std::string, Tensor> save_state(const StepContext& context,
                                         const std::vector<TrackedQuantity>& all_tracked);

// Throws c10::ValueError, before anything is changed, if `saved` is of other parameters, or of
// other quantities or settings. Due steps may differ: what is kept does not depend on them.
void load_state(const std::map<std::string, Tensor>& saved,
                StepContext& context,
                std::vector<TrackedQuantity>& all_tracked);

}  // namespace flightdeck

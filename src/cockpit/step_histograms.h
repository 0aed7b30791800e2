// SPDX-License-Identifier: MIT
// Counts per parameter, as quantities see them: per group.
#pragma once

#include "flightdeck/quantity.h"

namespace flightdeck {

// `counted` are the bins of the pass, in the order of the answers. Throws if `bins` is not among
// them.
Tensor histogram_by_group(const StepView& step, const std::vector<Bins>& counted, const Bins& bins);
Tensor joint_histogram_by_group(const StepView& step,
                                const std::vector<JointBins>& counted,
                                const JointBins& bins);

}  // namespace flightdeck

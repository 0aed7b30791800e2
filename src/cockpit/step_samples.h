// SPDX-License-Identifier: MIT
// Who the samples of a step are, as far as the loop told, and which of them went bad.
#pragma once

#include <string>

#include "flightdeck/cockpit.h"

namespace flightdeck {

// Describes samples by tensors [N], undefined where something is not known.
struct StepSamples {
  Tensor losses;  // detached
  Tensor ids, labels, predictions;
};

// Returns what the options tell of N samples; throws if it is not one integer for each.
StepSamples told_samples(const StepOptions& options, int64_t N);

// Names the samples whose losses are not finite, the first few of many. Empty if that is unknown,
// or all of them: then the parameters went bad, not a sample. Waits for the device.
std::string not_finite_text(const StepSamples& samples);

}  // namespace flightdeck

// SPDX-License-Identifier: MIT
// Looks at a few batches before a training and finds what can be found then.
#pragma once

#include <cstdint>

#include "flightdeck/diagnosis.h"
#include "run/training.h"

namespace flightdeck::run {

struct PreflightResult {
  Diagnosis diagnosis;
  int64_t batches = 0;  ///< that were looked at
};

/// Takes `batches` steps of the training with a model of its own, which is thrown away, under a
/// cockpit with everything that lamps read, and diagnoses that record. Random numbers of LibTorch's
/// default generator are put back. Throws where the first step itself throws: that is what the
/// training would do.
PreflightResult preflight(const TrainingOptions& options, int64_t batches = 3);

}  // namespace flightdeck::run

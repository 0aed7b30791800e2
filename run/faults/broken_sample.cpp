// SPDX-License-Identifier: MIT
#include <torch/torch.h>

#include "run/fault.h"

namespace flightdeck::run::faults {

Fault broken_sample() {
  Fault fault;
  fault.name = "broken_sample";
  fault.summary = "A sample of the data is not a number";
  fault.cause = "broken_data";
  fault.also = {"numeric_overflow"};
  fault.fits = [](const FaultyTraining& training) { return !training.is_text; };
  fault.inject = [](FaultyTraining& training, double) { training.inputs[0].fill_(std::nan("")); };
  return fault;
}

}  // namespace flightdeck::run::faults

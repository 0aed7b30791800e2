// SPDX-License-Identifier: MIT
// A data set that is loaded; separate from the loading, which needs all the data sets there are.
#include <ATen/ATen.h>

#include "suite/data_set.h"

namespace flightdeck::suite {

const char* name_of(Part part) {
  switch (part) {
    case Part::kTrain:
      return "train";
    case Part::kTrainEval:
      return "train_eval";
    case Part::kValid:
      return "valid";
    case Part::kTest:
      return "test";
  }
  TORCH_INTERNAL_ASSERT(false);
}

const Samples& DataSet::part(Part part) const {
  switch (part) {
    case Part::kTrain:
      return train;
    case Part::kTrainEval:
      return train_eval;
    case Part::kValid:
      return valid;
    case Part::kTest:
      return test;
  }
  TORCH_INTERNAL_ASSERT(false);
}

void DataSet::to(const at::Device& device) {
  for (Samples* samples : {&train, &train_eval, &valid, &test}) {
    samples->inputs = samples->inputs.to(device);
    samples->targets = samples->targets.to(device);
  }
}

}  // namespace flightdeck::suite

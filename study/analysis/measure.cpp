// SPDX-License-Identifier: MIT
#include "study/analysis/measure.h"

#include <stdexcept>

namespace flightdeck::study {

std::string name_of(MeasuredPart part) {
  return part == MeasuredPart::kTrain ? "train" : part == MeasuredPart::kValid ? "valid" : "test";
}

MeasuredPart part_of(const std::string& name) {
  for (const MeasuredPart part :
       {MeasuredPart::kTrain, MeasuredPart::kValid, MeasuredPart::kTest}) {
    if (name_of(part) == name) return part;
  }
  throw std::invalid_argument("there is no part " + name + "; choose test, valid or train");
}

}  // namespace flightdeck::study

// SPDX-License-Identifier: MIT
#include "study/analysis/measure.h"

#include <stdexcept>

namespace flightdeck::study {

std::string name_of(Part part) {
  return part == Part::kTrain ? "train" : part == Part::kValid ? "valid" : "test";
}

Part part_of(const std::string& name) {
  for (const Part part : {Part::kTrain, Part::kValid, Part::kTest}) {
    if (name_of(part) == name) return part;
  }
  throw std::invalid_argument("there is no part " + name + "; choose test, valid or train");
}

}  // namespace flightdeck::study

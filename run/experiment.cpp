// SPDX-License-Identifier: MIT
#include "run/experiment.h"

namespace flightdeck::run {
namespace experiments {

#define FLIGHTDECK_ENTRY(name) Experiment name();
#include "flightdeck/experiments.inc"
#undef FLIGHTDECK_ENTRY

}  // namespace experiments

const std::vector<Experiment>& all_experiments() {
  static const std::vector<Experiment> table = {
#define FLIGHTDECK_ENTRY(name) experiments::name(),
#include "flightdeck/experiments.inc"
#undef FLIGHTDECK_ENTRY
  };
  return table;
}

}  // namespace flightdeck::run

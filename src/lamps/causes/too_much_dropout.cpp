// SPDX-License-Identifier: MIT
#include "flightdeck/diagnosis.h"

namespace flightdeck::causes {

Cause too_much_dropout() {
  Cause cause;
  cause.name = "too_much_dropout";
  cause.sentence = "Dropout leaves out too much";
  cause.remedy = "Lower the dropout rate to 0.5 or less";
  cause.weight = 1;
  cause.lights = {{"heavy_dropout", 0.98},
                  {"only_noise", 0.5},
                  {"at_chance", 0.29},
                  {"loss_spikes", 0.15},
                  {"diverged", 0.14}};
  return cause;
}

}  // namespace flightdeck::causes

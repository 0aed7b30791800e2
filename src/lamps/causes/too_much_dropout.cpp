// SPDX-License-Identifier: MIT
#include "flightdeck/diagnosis.h"

namespace flightdeck::causes {

Cause too_much_dropout() {
  Cause cause;
  cause.name = "too_much_dropout";
  cause.sentence = "Dropout leaves out too much";
  cause.remedy = "Lower the dropout rate to 0.2";
  cause.weight = 1;
  cause.changes = {"dropout"};
  cause.factor = 0.2;
  cause.lights = {{"heavy_dropout", 0.96},
                  {"little_learned", 0.68},
                  {"confident_mistakes", 0.39},
                  {"at_chance", 0.36},
                  {"high_first_loss", 0.25},
                  {"overwritten_start", 0.25},
                  {"large_start", 0.18},
                  {"diverged", 0.14},
                  {"loss_grew", 0.14},
                  {"still_falling", 0.12},
                  {"uneven_activations", 0.07}};
  return cause;
}

}  // namespace flightdeck::causes

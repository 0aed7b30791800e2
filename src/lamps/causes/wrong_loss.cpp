// SPDX-License-Identifier: MIT
#include "flightdeck/diagnosis.h"

namespace flightdeck::causes {

Cause wrong_loss() {
  Cause cause;
  cause.name = "wrong_loss";
  cause.sentence = "The loss does not fit labels of classes";
  cause.remedy = "Use the cross-entropy of the outputs and the labels";
  cause.weight = 1;
  cause.changes = {"loss"};
  cause.lights = {{"other_loss", 0.95},
                  {"missing_logarithm", 0.32},
                  {"overwritten_start", 0.21},
                  {"still_falling", 0.2},
                  {"dead_layers", 0.14},
                  {"label_conflicts", 0.11},
                  {"large_start", 0.11},
                  {"loss_grew", 0.11},
                  {"shrinking_parameters", 0.11},
                  {"diverged", 0.07},
                  {"outlying_samples", 0.05}};
  return cause;
}

}  // namespace flightdeck::causes

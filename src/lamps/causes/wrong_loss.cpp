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
                  {"overwritten_start", 0.32},
                  {"dead_layers", 0.21},
                  {"label_conflicts", 0.16},
                  {"large_start", 0.16},
                  {"loss_grew", 0.16},
                  {"shrinking_parameters", 0.16},
                  {"diverged", 0.11},
                  {"missing_logarithm", 0.05},
                  {"outlying_samples", 0.08},
                  {"still_falling", 0.06}};
  return cause;
}

}  // namespace flightdeck::causes

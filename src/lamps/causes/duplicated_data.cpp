// SPDX-License-Identifier: MIT
#include "flightdeck/diagnosis.h"

namespace flightdeck::causes {

Cause duplicated_data() {
  Cause cause;
  cause.name = "duplicated_data";
  cause.sentence = "Batches hold copies of the same samples";
  cause.remedy = "Give every worker its own seed, and remove copies from the data";
  cause.weight = 1;
  cause.changes = {"data"};
  // Copies have the labels of what they are copies of, or kept those of what they were: each fault
  // weighs the same.
  cause.lights = {{"duplicated_samples", 0.87},
                  {"conflicting_labels", 0.48},
                  {"confident_mistakes", 0.29},
                  {"little_learned", 0.25},
                  {"still_falling", 0.22},
                  {"at_chance", 0.17},
                  {"large_share_of_data", 0.12}};
  return cause;
}

}  // namespace flightdeck::causes

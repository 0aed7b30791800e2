// SPDX-License-Identifier: MIT
#include "lamps/update_lengths.h"

#include <cmath>

#include "lamps/recent.h"

namespace flightdeck::lamps {

void tell_update_length(
    Finding& finding, int64_t step, double logarithm, double usual, const std::string& where) {
  finding.step = step;
  finding.quantity = "update_ratio";
  finding.evidence = "A step is " + short_text(std::pow(10, logarithm)) +
                     " times as long as the parameters" + where + "; 0.001 to 0.02 is usual";
  finding.rate_factor = usual / std::pow(10, logarithm);
}

std::string rate_advice(double factor) {
  return factor < 1 ? "Divide the learning rate by about " + short_text(1 / factor)
                    : "Multiply the learning rate by about " + short_text(factor);
}

}  // namespace flightdeck::lamps

// SPDX-License-Identifier: MIT
// Normalised step length: where on a parabola along its own step the optimizer lands. -1 is no
// step, 0 the minimum, 1 as high as before on the other side.
#include <cmath>
#include <limits>

#include "flightdeck/quantity.h"

namespace flightdeck::quantities {
namespace {

struct Observation {
  double value, variance;
};

// A variance that is unknown (batch of one) is the other step's; none known weighs all equally.
// Exactly 0 counts as 1e-10, as in the reference implementation.
void set_variances(Observation& first, Observation& second, double fallback) {
  if (std::isnan(first.variance)) first.variance = second.variance;
  if (std::isnan(second.variance)) second.variance = first.variance;
  for (Observation* observation : {&first, &second}) {
    if (std::isnan(observation->variance)) observation->variance = fallback;
    if (observation->variance == 0) observation->variance = 1e-10;
  }
}

// Maximum-likelihood parabola through two losses and two slopes with Gaussian noise. Four
// observations of three unknowns leave one residual: a parabola has
// loss[1] - loss[0] = t (slope[0] + slope[1]) / 2. The fit spreads what is missing from that over
// the observations in proportion to their variances; the slopes that result determine alpha.
double alpha_of(const ChordView& chord) {
  const double t = chord.length;
  Observation loss[2], slope[2];  // slopes times t: all four are differences of losses
  for (int end : {0, 1}) {
    loss[end] = {chord.loss[end], chord.loss_variance[end]};
    slope[end] = {chord.slope[end], chord.slope_variance[end]};
  }
  set_variances(loss[0], loss[1], 1);
  set_variances(slope[0], slope[1], 1 / (t * t));
  for (Observation& observation : slope) {
    observation.value *= t;
    observation.variance *= t * t;
  }
  const double missing = loss[1].value - loss[0].value - (slope[0].value + slope[1].value) / 2;
  const double share =
      missing / (loss[0].variance + loss[1].variance + (slope[0].variance + slope[1].variance) / 4);
  const double first = slope[0].value + slope[0].variance / 2 * share;   // t mu1
  const double second = slope[1].value + slope[1].variance / 2 * share;  // t mu1 + 2 t² mu2
  if (second < first) return -1;                                         // no minimum ahead
  if (first == 0) return std::numeric_limits<double>::quiet_NaN();
  return -second / first;  // -2 t mu2 / mu1 - 1
}

}  // namespace

Quantity alpha(Settings&) {
  return Quantity("alpha")
      .summary("Normalised step length: -1 no step, 0 to the minimum, 1 equally far beyond it")
      .reference("C.3.1, maximum-likelihood fit C.4 with sample variances")
      .cost(Cost::kFirstOrder)
      .after_next([](const ChordView& chord) {
        // Short steps tend to -1; a step that was not taken has no direction and no slope.
        if (chord.length == 0) return Value::none("the optimizer took no step");
        return Value(alpha_of(chord));
      });
}

}  // namespace flightdeck::quantities

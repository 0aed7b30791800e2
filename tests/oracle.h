// SPDX-License-Identifier: MIT
// The independent oracle: individual gradients by plain autograd, one sample at a time, and every
// answer of the engine from them by its textbook formula.
#pragma once

#include <string>
#include <vector>

#include "flightdeck/flightdeck.h"

namespace flightdeck::tests {

// Allowed errors, as fractions of a scale.
//
// The scale of a field is the largest magnitude among the terms that were added up to form it: an
// entry near zero that is left over from cancelling terms carries the rounding of the terms, so an
// entry-wise relative error would measure the cancellation, not the engine. For individual
// gradients and second moments the scale is the field's own largest entry; for the mean it is the
// largest individual entry, for the variance the largest second moment, for dot products the
// largest norm times the norm of the direction. Norms are compared squared: the square root would
// magnify the rounding of a row that cancels to nothing.
struct Tolerances {
  // Rounding is 1.1e-16; sums of some thousand terms through a dozen layers lose four digits at
  // most. What remains is a hundred times smaller than this.
  double float64 = 1e-10;
  // Rounding is 6e-8; the same loss of digits gives 1e-4 with some room.
  double float32 = 2e-4;
  // Rounding is 4e-3 per activation, and both the cotangents and the weights carry it.
  double bfloat16 = 5e-2;
  // A parameter whose gradient vanishes by an identity (a bias in front of a normalisation) has
  // only rounding in it. Scales are therefore at least this fraction of the whole model's.
  double floor = 1e-4;
  // Where autograd itself leaves less than this fraction of the tolerance, nothing but rounding is
  // there, magnified by 1 / sqrt(eps) if a normalisation of equal values made it. The answer must
  // be as small; it need not be the same rounding.
  double nothing = 1e-2;
  // An ill-conditioned gradient (behind a normalisation of two features, say) is known no better
  // than its own rounding lets it. One trial of that rounding may turn out small by chance.
  double roundings = 16;
};
constexpr Tolerances kTolerances;

// The tolerance that belongs to a parameter type.
double tolerance_of(at::ScalarType type);

// The needs that individual gradients alone answer, for the tests that ask for everything at once.
const std::vector<Need>& every_need();
Needs all_needs();
std::string to_string(Needs needs);

struct Oracle {
  std::vector<std::string> names;
  std::vector<Tensor> individual;  // per parameter [N, *shape], float64

  // The same gradients for these samples only, in this order; empty means all.
  Oracle select(const std::vector<int64_t>& samples) const;
};

// Differentiates losses[n] for every n. The graph stays usable and `.grad` untouched.
Oracle differentiate(const Tensor& losses, const Parameters& parameters);

// One direction stack [V, *shape] per parameter, for Need::kDots.
std::vector<Tensor> random_directions(const Parameters& parameters, int64_t count = 2);

// Every answer for one parameter by its textbook formula, in float64. Directions may be undefined.
ParameterGradients textbook_answers(const Tensor& individual, const Tensor& directions);

// One line per field that was asked for and differs (or was not asked for and is present), per
// parameter and in total. Empty when the engine is right. `shaken` is what autograd says of the
// same net with its parameters moved by about one rounding: answers may be off by `roundings` times
// as much as that moves them.
std::vector<std::string> differences(const Gradients& answers,
                                     const Oracle& oracle,
                                     Needs what,
                                     const std::vector<Tensor>& directions,
                                     double tolerance,
                                     const Oracle& shaken = {});

// Fails the running test if there are differences.
void expect_matches_oracle(const Gradients& answers,
                           const Oracle& oracle,
                           Needs what,
                           const std::vector<Tensor>& directions,
                           double tolerance = kTolerances.float64);

// Compares two tensors; the error may be `tolerance` times the largest magnitude of `expected`.
void expect_close(const Tensor& actual,
                  const Tensor& expected,
                  const std::string& what,
                  double tolerance = kTolerances.float64);

}  // namespace flightdeck::tests

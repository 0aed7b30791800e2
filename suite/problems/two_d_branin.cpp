// SPDX-License-Identifier: MIT
#include <ATen/ATen.h>

#include "suite/problems/plane.h"

namespace flightdeck::suite::problems {
namespace {

constexpr double kPi = 3.14159265358979323846;

Tensor branin(const Tensor& u, const Tensor& v) {
  const double b = 5.1 / (4.0 * kPi * kPi), c = 5.0 / kPi;
  const Tensor bowl = v - b * u.square() + c * u - 6.0;
  return bowl.square() + 10.0 * (1.0 - 1.0 / (8.0 * kPi)) * u.cos() + 10.0;
}

}  // namespace

Problem two_d_branin() {
  Problem problem = noisy_plane(&branin, 2.5, 12.5);
  problem.name = "two_d_branin";
  problem.summary = "noisy Branin's function: three equal minima";
  return problem;
}

}  // namespace flightdeck::suite::problems

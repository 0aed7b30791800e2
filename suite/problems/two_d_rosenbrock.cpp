// SPDX-License-Identifier: MIT
#include <ATen/ATen.h>

#include "suite/problems/plane.h"

namespace flightdeck::suite::problems {
namespace {

Tensor rosenbrock(const Tensor& u, const Tensor& v) {
  return (1.0 - u).square() + 100.0 * (v - u.square()).square();
}

}  // namespace

Problem two_d_rosenbrock() {
  Problem problem = noisy_plane(&rosenbrock, -0.5, 1.5);
  problem.name = "two_d_rosenbrock";
  problem.summary = "noisy Rosenbrock's function: a flat curved valley";
  return problem;
}

}  // namespace flightdeck::suite::problems

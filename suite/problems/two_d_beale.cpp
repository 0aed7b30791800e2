// SPDX-License-Identifier: MIT
#include <ATen/ATen.h>

#include "suite/problems/plane.h"

namespace flightdeck::suite::problems {
namespace {

Tensor beale(const Tensor& u, const Tensor& v) {
  const Tensor first = 1.5 - u + u * v;
  const Tensor second = 2.25 - u + u * v.square();
  const Tensor third = 2.625 - u + u * v.pow(3);
  return first.square() + second.square() + third.square();
}

}  // namespace

Problem two_d_beale() {
  Problem problem = noisy_plane(&beale, -4.5, 4.5);
  problem.name = "two_d_beale";
  problem.summary = "noisy Beale's function: a narrow bent valley between steep walls";
  return problem;
}

}  // namespace flightdeck::suite::problems

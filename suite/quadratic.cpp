// SPDX-License-Identifier: MIT
#include "suite/quadratic.h"

#include <cmath>

#include <ATen/Functions.h>

#include "suite/numpy_random.h"

namespace flightdeck::suite {
namespace {

constexpr double kQuadraticPi = 3.14159265358979323846;

Tensor draw_eigenvalues(NumpyRandom& random) {
  constexpr int64_t kSmall = 90;
  Tensor eigenvalues = at::empty({kQuadraticDimensions}, at::kDouble);
  double* values = eigenvalues.data_ptr<double>();
  for (int64_t i = 0; i < kSmall; ++i) values[i] = random.uniform();
  for (int64_t i = kSmall; i < kQuadraticDimensions; ++i)
    values[i] = 30.0 + 30.0 * random.uniform();
  return eigenvalues;
}

// Draws a uniformly distributed rotation by the subgroup algorithm: from d to d + 1 dimensions by
// one random reflection of the block matrix diag(1, B).
Tensor draw_rotation(NumpyRandom& random) {
  const double angle = 2.0 * kQuadraticPi * random.uniform();
  Tensor basis = at::empty({2, 2}, at::kDouble);
  double* entries = basis.data_ptr<double>();
  entries[0] = entries[3] = std::cos(angle);
  entries[1] = std::sin(angle);
  entries[2] = -std::sin(angle);
  for (int64_t d = 2; d < kQuadraticDimensions; ++d) {
    const Tensor direction = random.normals(d + 1);
    Tensor mirror = direction.div(direction.norm()).neg_();  // e1 - v
    mirror[0].add_(1.0);
    mirror.div_(mirror.norm());
    Tensor block = at::zeros({d + 1, d + 1}, at::kDouble);
    block[0][0].fill_(1.0);
    block.slice(0, 1).slice(1, 1).copy_(basis);
    basis = block - at::outer(mirror, mirror.matmul(block)).mul_(2.0);
  }
  return basis.neg();
}

}  // namespace

Quadratic quadratic() {
  NumpyRandom random(42);
  Quadratic drawn;
  drawn.eigenvalues = draw_eigenvalues(random);
  drawn.basis = draw_rotation(random);
  return drawn;
}

Tensor quadratic_points(uint32_t seed, int64_t n) {
  NumpyRandom random(seed);
  return random.normals(n * kQuadraticDimensions)
      .mul_(0.6)
      .view({n, kQuadraticDimensions})
      .to(at::kFloat);
}

}  // namespace flightdeck::suite

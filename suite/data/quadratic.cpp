// SPDX-License-Identifier: MIT
// The points of the quadratic: 1000 each for training, validation and test, drawn with fixed seeds.
#include "suite/quadratic.h"

#include <ATen/Functions.h>

#include "suite/data/source.h"

namespace flightdeck::suite::data_sets {
namespace {

Samples draw(uint32_t seed) {
  const Tensor points = quadratic_points(seed, 1000);
  return {points, at::zeros_like(points)};
}

}  // namespace

DataSource quadratic() {
  DataSource source;
  source.name = "quadratic";
  source.summary = "normal points in 100 dimensions, generated as published, 3 x 1000";
  source.generate = [](uint64_t) { return Parts{draw(42), /*valid=*/draw(44), /*test=*/draw(43)}; };
  source.prepare = [](const Tensor& points) { return points; };
  return source;
}

}  // namespace flightdeck::suite::data_sets

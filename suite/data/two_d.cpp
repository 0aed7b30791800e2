// SPDX-License-Identifier: MIT
// Noise for the problems with two parameters: 10 000 normal points each for training and
// validation, drawn with fixed seeds. Those for testing are zero: the loss is the function itself.
#include <ATen/Functions.h>

#include "suite/data/source.h"
#include "suite/numpy_random.h"

namespace flightdeck::suite::data_sets {
namespace {

constexpr int64_t kPoints = 10000;

Samples without_targets(const Tensor& points) { return {points, at::zeros({kPoints})}; }

Samples draw_noise(uint32_t seed) {  // all x first, then all y
  NumpyRandom random(seed);
  return without_targets(
      random.normals(2 * kPoints).view({2, kPoints}).t().to(at::kFloat).contiguous());
}

}  // namespace

DataSource two_d() {
  DataSource source;
  source.name = "two_d";
  source.summary = "normal points in two dimensions, generated as published, 3 x 10 000";
  source.generate = [](uint64_t) {
    return Parts{
        draw_noise(42), /*valid=*/draw_noise(44), without_targets(at::zeros({kPoints, 2}))};
  };
  source.prepare = [](const Tensor& points) { return points; };
  return source;
}

}  // namespace flightdeck::suite::data_sets

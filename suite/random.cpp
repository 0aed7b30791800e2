// SPDX-License-Identifier: MIT
#include "suite/random.h"

#include <utility>

#include <ATen/Functions.h>

#include "src/base/random.h"

namespace flightdeck::suite {

Generator generator_of(uint64_t seed, uint64_t purpose) {
  return flightdeck::generator_of(seed, purpose);
}

int64_t uniform_integer(Generator& generator, int64_t limit) {
  return flightdeck::uniform_integer(generator, limit);
}

double uniform(Generator& generator) { return flightdeck::uniform(generator); }

at::Tensor permutation(Generator& generator, int64_t n) {
  at::Tensor order = at::arange(n, at::kLong);
  int64_t* values = order.data_ptr<int64_t>();
  for (int64_t i = n - 1; i > 0; --i)
    std::swap(values[i], values[uniform_integer(generator, i + 1)]);
  return order;
}

at::Tensor uniforms(Generator& generator, int64_t count, double low, double high) {
  at::Tensor values = at::empty({count}, at::kFloat);
  float* out = values.data_ptr<float>();
  for (int64_t i = 0; i < count; ++i) {
    out[i] = static_cast<float>(low + (high - low) * uniform(generator));
  }
  return values;
}

}  // namespace flightdeck::suite

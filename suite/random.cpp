// SPDX-License-Identifier: MIT
#include "suite/random.h"

#include <utility>

#include <ATen/Functions.h>

namespace flightdeck::suite {

Generator generator_of(uint64_t seed, uint64_t purpose) {
  std::seed_seq words{seed & 0xffffffffu, seed >> 32, purpose & 0xffffffffu, purpose >> 32};
  return Generator(words);
}

int64_t uniform_integer(Generator& generator, int64_t limit) {
  const uint64_t range = static_cast<uint64_t>(limit);
  const uint64_t rest = (~uint64_t{0} % range + 1) % range;  // 2^64 modulo the range
  uint64_t drawn = generator();
  while (drawn < rest) drawn = generator();  // else small values would come up more often
  return static_cast<int64_t>(drawn % range);
}

double uniform(Generator& generator) {
  return static_cast<double>(generator() >> 11) / 9007199254740992.0;  // 2^53
}

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

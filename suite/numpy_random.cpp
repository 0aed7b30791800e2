// SPDX-License-Identifier: MIT
#include "suite/numpy_random.h"

#include <cmath>

#include <ATen/Functions.h>

namespace flightdeck::suite {

double NumpyRandom::uniform() {
  const uint32_t high = static_cast<uint32_t>(engine_()) >> 5;  // 27 bits
  const uint32_t low = static_cast<uint32_t>(engine_()) >> 6;   // 26 bits
  return (high * 67108864.0 + low) / 9007199254740992.0;        // 2^26, 2^53
}

double NumpyRandom::normal() {
  if (has_kept_) {
    has_kept_ = false;
    return kept_;
  }
  for (;;) {
    const double first = 2.0 * uniform() - 1.0;
    const double second = 2.0 * uniform() - 1.0;
    const double radius2 = first * first + second * second;
    if (radius2 >= 1.0 || radius2 == 0.0) continue;
    const double factor = std::sqrt(-2.0 * std::log(radius2) / radius2);
    kept_ = factor * first;
    has_kept_ = true;
    return factor * second;
  }
}

at::Tensor NumpyRandom::normals(int64_t count) {
  at::Tensor values = at::empty({count}, at::kDouble);
  double* out = values.data_ptr<double>();
  for (int64_t i = 0; i < count; ++i) out[i] = normal();
  return values;
}

}  // namespace flightdeck::suite

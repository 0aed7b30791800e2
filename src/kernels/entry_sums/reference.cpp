// SPDX-License-Identifier: MIT
// The definition, one number after the other. The other instruction sets are held to it.
#include <cmath>
#include <cstring>

#include "kernels/entry_sums/variants.h"

namespace flightdeck::kernels {
namespace {

double value_of(float x) { return x; }
double value_of(double x) { return x; }
double value_of(Bfloat16 x) {
  const uint32_t bits = uint32_t{x.bits} << 16U;
  float value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

template <typename Stored>
void add(const Stored* x, int64_t n, double tiny, double huge, EntrySums& sums) {
  for (int64_t k = 0; k < n; ++k) {
    const double value = value_of(x[k]), size = std::fabs(value), square = value * value;
    sums.sum += value;
    sums.squares += square;
    sums.cubes += square * value;
    sums.fourths += square * square;
    sums.zeros += size == 0;
    sums.tiny += size != 0 && size < tiny;
    if (!std::isfinite(value)) {
      ++sums.not_finite;
      continue;
    }
    sums.huge += size > huge;
    sums.low = value < sums.low ? value : sums.low;
    sums.high = value > sums.high ? value : sums.high;
  }
}

}  // namespace

const EntrySumsVariant kReferenceEntrySums = {&add<float>, &add<double>, &add<Bfloat16>};

}  // namespace flightdeck::kernels

// SPDX-License-Identifier: MIT
#include "base/shape.h"

#include <functional>
#include <numeric>

namespace flightdeck {

int64_t product(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

std::string to_string(const Shape& shape) {
  std::string text = "[";
  for (size_t k = 0; k < shape.size(); ++k) text += (k ? ", " : "") + std::to_string(shape[k]);
  return text + "]";
}

}  // namespace flightdeck

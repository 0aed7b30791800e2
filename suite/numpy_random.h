// SPDX-License-Identifier: MIT
// NumPy's RandomState, number for number: DeepOBS draws its artificial problems with it.
#pragma once

#include <cstdint>
#include <random>

#include <ATen/core/Tensor.h>

namespace flightdeck::suite {

class NumpyRandom {
 public:
  explicit NumpyRandom(uint32_t seed) : engine_(seed) {}

  double uniform();                   ///< in [0, 1)
  double normal();                    ///< standard normal
  at::Tensor normals(int64_t count);  ///< [count] float64

 private:
  std::mt19937 engine_;
  double kept_ = 0.0;  // each try of the polar method gives two values
  bool has_kept_ = false;
};

}  // namespace flightdeck::suite

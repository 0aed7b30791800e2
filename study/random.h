// SPDX-License-Identifier: MIT
// Random numbers for draws, the same on every machine: the standard library fixes its engines but
// not its distributions.
#pragma once

#include <cstdint>
#include <random>
#include <string>

namespace flightdeck::study {

class Shares {
 public:
  /// Other seeds and other purposes give unrelated numbers.
  Shares(uint64_t seed, const std::string& purpose);

  /// Uniform in [0, 1).
  double next();

 private:
  std::mt19937_64 generator_;
};

}  // namespace flightdeck::study

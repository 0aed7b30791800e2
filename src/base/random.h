// SPDX-License-Identifier: MIT
// Random numbers that are the same on every machine: the standard library fixes its engines but not
// its distributions.
#pragma once

#include <cstdint>
#include <random>
#include <string>

namespace flightdeck {

using Generator = std::mt19937_64;

// Makes a generator for one purpose of a seed, for example one epoch. Nearby arguments give
// unrelated numbers.
inline Generator generator_of(uint64_t seed, uint64_t purpose) {
  std::seed_seq words{seed & 0xffffffffu, seed >> 32, purpose & 0xffffffffu, purpose >> 32};
  return Generator(words);
}

// Makes a generator for a purpose that has a name. It is hashed by FNV-1a, since std::hash differs
// between libraries.
inline Generator generator_of(uint64_t seed, const std::string& purpose) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char character : purpose) {
    hash = (hash ^ static_cast<unsigned char>(character)) * 0x100000001b3u;
  }
  return generator_of(seed, hash);
}

// Draws an integer that is uniform in [0, limit).
inline int64_t uniform_integer(Generator& generator, int64_t limit) {
  const uint64_t range = static_cast<uint64_t>(limit);
  const uint64_t rest = (~uint64_t{0} % range + 1) % range;  // 2^64 modulo the range
  uint64_t drawn = generator();
  while (drawn < rest) drawn = generator();  // else small values would come up more often
  return static_cast<int64_t>(drawn % range);
}

// Draws a number that is uniform in [0, 1).
inline double uniform(Generator& generator) {
  return static_cast<double>(generator() >> 11) / 9007199254740992.0;  // 2^53
}

}  // namespace flightdeck

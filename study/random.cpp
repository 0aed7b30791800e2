// SPDX-License-Identifier: MIT
#include "study/random.h"

namespace flightdeck::study {
namespace {

// FNV-1a: std::hash differs between libraries.
uint64_t hash_of(const std::string& text) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char character : text) {
    hash = (hash ^ static_cast<unsigned char>(character)) * 0x100000001b3u;
  }
  return hash;
}

std::mt19937_64 generator_of(uint64_t seed, uint64_t purpose) {
  std::seed_seq words{seed & 0xffffffffu, seed >> 32, purpose & 0xffffffffu, purpose >> 32};
  return std::mt19937_64(words);
}

}  // namespace

Shares::Shares(uint64_t seed, const std::string& purpose)
    : generator_(generator_of(seed, hash_of(purpose))) {}

double Shares::next() {
  return static_cast<double>(generator_() >> 11) / 9007199254740992.0;  // 2^53
}

}  // namespace flightdeck::study

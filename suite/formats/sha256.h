// SPDX-License-Identifier: MIT
// SHA-256, to recognise published files.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace flightdeck::suite {

class Sha256 {
 public:
  void add(const void* bytes, size_t count);
  /// Returns the hash of all that was added, in hexadecimal. Call it once, at the end.
  std::string hex();

 private:
  void digest_block();

  std::array<uint32_t, 8> state_ = {0x6a09e667,
                                    0xbb67ae85,
                                    0x3c6ef372,
                                    0xa54ff53a,
                                    0x510e527f,
                                    0x9b05688c,
                                    0x1f83d9ab,
                                    0x5be0cd19};
  std::array<uint8_t, 64> block_ = {};
  size_t filled_ = 0;
  uint64_t total_ = 0;  // bytes
};

}  // namespace flightdeck::suite

// SPDX-License-Identifier: MIT
#include "record/checksum.h"

#include <array>
#include <cstddef>

namespace flightdeck::record {

namespace {

// Holds tables for eight bytes at a time: table[k][b] is the remainder of byte b followed by k
// zeros.
using Tables = std::array<std::array<uint32_t, 256>, 8>;

constexpr Tables make_tables(uint32_t reflected_polynomial) {
  Tables tables{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) ? reflected_polynomial : 0);
    tables[0][byte] = crc;
  }
  for (size_t k = 1; k < tables.size(); ++k) {
    for (size_t byte = 0; byte < 256; ++byte) {
      const uint32_t previous = tables[k - 1][byte];
      tables[k][byte] = (previous >> 8) ^ tables[0][previous & 0xff];
    }
  }
  return tables;
}

uint32_t remainder(const Tables& tables, std::string_view bytes) {
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  size_t left = bytes.size();
  uint32_t crc = 0xffffffff;
  for (; left >= 8; left -= 8, data += 8) {
    const uint32_t low =
        crc ^ (data[0] | data[1] << 8 | data[2] << 16 | static_cast<uint32_t>(data[3]) << 24);
    crc = tables[7][low & 0xff] ^ tables[6][low >> 8 & 0xff] ^ tables[5][low >> 16 & 0xff] ^
          tables[4][low >> 24] ^ tables[3][data[4]] ^ tables[2][data[5]] ^ tables[1][data[6]] ^
          tables[0][data[7]];
  }
  for (; left > 0; --left, ++data) crc = (crc >> 8) ^ tables[0][(crc ^ *data) & 0xff];
  return ~crc;
}

constexpr Tables kZlib = make_tables(0xedb88320);
constexpr Tables kCastagnoli = make_tables(0x82f63b78);

}  // namespace

uint32_t crc32(std::string_view bytes) { return remainder(kZlib, bytes); }
uint32_t crc32c(std::string_view bytes) { return remainder(kCastagnoli, bytes); }

}  // namespace flightdeck::record

// SPDX-License-Identifier: MIT
// Cyclic redundancy checks: CRC-32 (of zlib) frames the journal, CRC-32C TensorBoard files.
#pragma once

#include <cstdint>
#include <string_view>

namespace flightdeck::record {

uint32_t crc32(std::string_view bytes);
uint32_t crc32c(std::string_view bytes);

}  // namespace flightdeck::record

// SPDX-License-Identifier: MIT
#include "tests/serve/decoding.h"

#include <cstdint>
#include <stdexcept>

#include <zlib.h>

namespace flightdeck::tests {

std::string decode_base64(const std::string& text) {
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    if (c == '=') break;
    const size_t digit = digits.find(c);
    if (digit == std::string::npos) throw std::runtime_error("no base64: " + text);
    bits = bits << 6 | static_cast<uint32_t>(digit);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count & 255U);
  }
  return bytes;
}

std::string gunzip(const std::string& bytes) {
  z_stream stream{};
  if (inflateInit2(&stream, 15 + 16) != Z_OK) throw std::runtime_error("inflateInit2 failed");
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::string out;
  int result = Z_OK;
  while (result == Z_OK) {
    char part[4096];
    stream.next_out = reinterpret_cast<Bytef*>(part);
    stream.avail_out = sizeof part;
    result = inflate(&stream, Z_NO_FLUSH);
    out.append(part, sizeof part - stream.avail_out);
  }
  inflateEnd(&stream);
  if (result != Z_STREAM_END) throw std::runtime_error("no gzip");
  return out;
}

}  // namespace flightdeck::tests

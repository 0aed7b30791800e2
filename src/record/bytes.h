// SPDX-License-Identifier: MIT
// Little-endian bytes: what the journal, the blobs of the database and TensorBoard files are made
// of. The byte order is that of the format, whatever the machine's is.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace flightdeck::record {

void put_u32(std::string& out, uint32_t value);
void put_u64(std::string& out, uint64_t value);
void put_double(std::string& out, double value);
// Writes seven bits a byte, lowest first; the eighth says that more follow (as in Protocol
// Buffers).
void put_varint(std::string& out, uint64_t value);
// Writes the text's length as a varint, then its bytes.
void put_string(std::string& out, std::string_view text);

// Takes bytes from the front; throws std::runtime_error where they end too early.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

  uint8_t u8();
  uint32_t u32();
  uint64_t u64();
  double number();
  uint64_t varint();
  int64_t integer() { return static_cast<int64_t>(varint()); }
  std::string string();
  std::string_view take(size_t size);

  // Reads a count of things of at least `bytes_each` bytes each. Refuses one that cannot fit before
  // anybody allocates for it.
  size_t count(size_t bytes_each = 1);

  bool is_empty() const { return rest_.empty(); }
  size_t size() const { return rest_.size(); }

 private:
  std::string_view rest_;
};

}  // namespace flightdeck::record

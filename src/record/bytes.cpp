// SPDX-License-Identifier: MIT
#include "record/bytes.h"

#include <cstring>
#include <stdexcept>

namespace flightdeck::record {

namespace {

template <typename T>
void put_fixed(std::string& out, T value) {
  char bytes[sizeof(T)];
  for (size_t i = 0; i < sizeof(T); ++i) bytes[i] = static_cast<char>(value >> (8 * i));
  out.append(bytes, sizeof(T));
}

template <typename T>
T get_fixed(std::string_view bytes) {
  T value = 0;
  for (size_t i = 0; i < sizeof(T); ++i) {
    value |= static_cast<T>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  }
  return value;
}

}  // namespace

void put_u32(std::string& out, uint32_t value) { put_fixed(out, value); }
void put_u64(std::string& out, uint64_t value) { put_fixed(out, value); }

void put_double(std::string& out, double value) {
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  put_u64(out, bits);
}

void put_varint(std::string& out, uint64_t value) {
  while (value >= 0x80) {
    out += static_cast<char>(value | 0x80);
    value >>= 7;
  }
  out += static_cast<char>(value);
}

void put_string(std::string& out, std::string_view text) {
  put_varint(out, text.size());
  out.append(text);
}

std::string_view ByteReader::take(size_t size) {
  if (size > rest_.size()) {
    throw std::runtime_error("record: " + std::to_string(size) + " bytes expected but " +
                             std::to_string(rest_.size()) + " left; the record is damaged");
  }
  const std::string_view front = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return front;
}

uint8_t ByteReader::u8() { return static_cast<uint8_t>(take(1)[0]); }
uint32_t ByteReader::u32() { return get_fixed<uint32_t>(take(4)); }
uint64_t ByteReader::u64() { return get_fixed<uint64_t>(take(8)); }

double ByteReader::number() {
  const uint64_t bits = u64();
  double value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

uint64_t ByteReader::varint() {
  uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    const uint8_t byte = u8();
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  throw std::runtime_error("record: a varint has more than ten bytes; the record is damaged");
}

std::string ByteReader::string() { return std::string(take(count())); }

size_t ByteReader::count(size_t bytes_each) {
  const uint64_t value = varint();
  if (value > rest_.size() / bytes_each) {
    throw std::runtime_error("record: " + std::to_string(value) + " entries announced but only " +
                             std::to_string(rest_.size()) + " bytes left; the record is damaged");
  }
  return static_cast<size_t>(value);
}

}  // namespace flightdeck::record

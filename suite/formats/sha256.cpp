// SPDX-License-Identifier: MIT
// The algorithm follows FIPS 180-4.
#include "suite/formats/sha256.h"

#include <algorithm>

namespace flightdeck::suite {
namespace {

constexpr std::array<uint32_t, 64> kRound = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

uint32_t rotated(uint32_t word, int count) { return word >> count | word << (32 - count); }

}  // namespace

void Sha256::add(const void* bytes, size_t count) {
  const auto* next = static_cast<const uint8_t*>(bytes);
  total_ += count;
  while (count > 0) {
    const size_t taken = std::min(count, block_.size() - filled_);
    std::copy_n(next, taken, block_.begin() + static_cast<std::ptrdiff_t>(filled_));
    filled_ += taken;
    next += taken;
    count -= taken;
    if (filled_ == block_.size()) digest_block();
  }
}

void Sha256::digest_block() {
  std::array<uint32_t, 64> words;
  for (size_t i = 0; i < 16; ++i) {
    words[i] = uint32_t{block_[4 * i]} << 24 | uint32_t{block_[4 * i + 1]} << 16 |
               uint32_t{block_[4 * i + 2]} << 8 | uint32_t{block_[4 * i + 3]};
  }
  for (size_t i = 16; i < 64; ++i) {
    const uint32_t near = words[i - 2], far = words[i - 15];
    words[i] = words[i - 16] + words[i - 7] + (rotated(far, 7) ^ rotated(far, 18) ^ far >> 3) +
               (rotated(near, 17) ^ rotated(near, 19) ^ near >> 10);
  }
  auto [a, b, c, d, e, f, g, h] = state_;
  for (size_t i = 0; i < 64; ++i) {
    const uint32_t first = h + (rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)) +
                           ((e & f) ^ (~e & g)) + kRound[i] + words[i];
    const uint32_t second =
        (rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + first;
    d = c;
    c = b;
    b = a;
    a = first + second;
  }
  const std::array<uint32_t, 8> added = {a, b, c, d, e, f, g, h};
  for (size_t i = 0; i < 8; ++i) state_[i] += added[i];
  filled_ = 0;
}

std::string Sha256::hex() {
  const uint64_t bits = total_ * 8;
  const uint8_t mark = 0x80, zero = 0;
  add(&mark, 1);
  while (filled_ != 56) add(&zero, 1);
  for (int shift = 56; shift >= 0; shift -= 8) {
    const auto byte = static_cast<uint8_t>(bits >> shift);
    add(&byte, 1);
  }
  std::string text;
  for (const uint32_t word : state_) {
    for (int shift = 28; shift >= 0; shift -= 4) text += "0123456789abcdef"[word >> shift & 15];
  }
  return text;
}

}  // namespace flightdeck::suite

// SPDX-License-Identifier: MIT
// Sets of things to compute.
#pragma once

#include <cstdint>

namespace flightdeck {

/// A set of the values of an enumeration whose values are single bits.
template <typename Enum>
class NeedSet {
 public:
  constexpr NeedSet() = default;
  constexpr NeedSet(Enum need) : bits_(static_cast<uint32_t>(need)) {}
  constexpr bool has(Enum need) const { return (bits_ & static_cast<uint32_t>(need)) != 0; }
  constexpr bool empty() const { return bits_ == 0; }
  friend constexpr NeedSet operator|(NeedSet a, NeedSet b) {
    NeedSet both;
    both.bits_ = a.bits_ | b.bits_;
    return both;
  }

 private:
  uint32_t bits_ = 0;
};

}  // namespace flightdeck

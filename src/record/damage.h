// SPDX-License-Identifier: MIT
// How readers refuse a record that no recorder has written.
#pragma once

#include <stdexcept>
#include <string>

namespace flightdeck::record {

[[noreturn]] inline void damaged(const std::string& what) {
  throw std::runtime_error("record: " + what + "; the record is damaged");
}

}  // namespace flightdeck::record

// SPDX-License-Identifier: MIT
// How a failed call of the system is told.
#pragma once

#include <cstring>
#include <stdexcept>
#include <string>

namespace flightdeck::study {

// Throws "cannot lock runs/plan: Permission denied" and the like.
[[noreturn]] inline void cannot(const std::string& doing, int error) {
  throw std::runtime_error("cannot " + doing + ": " + std::strerror(error));
}

}  // namespace flightdeck::study

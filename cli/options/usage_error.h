// SPDX-License-Identifier: MIT
// The command line asks for something that does not exist.
#pragma once

#include <stdexcept>

namespace flightdeck::cli {

// An error after which the tool exits with 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace flightdeck::cli

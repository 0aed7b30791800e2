// SPDX-License-Identifier: MIT
// Exceptions as text for people.
#pragma once

#include <exception>
#include <string>

namespace flightdeck::cli {

/// What went wrong, without the stack trace that LibTorch's what() carries.
std::string message_of(const std::exception& error);

}  // namespace flightdeck::cli

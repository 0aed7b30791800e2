// SPDX-License-Identifier: MIT
// What an exception says to people. LibTorch's own text of one holds its backtrace.
#pragma once

#include <exception>
#include <string>

namespace flightdeck {

// Returns the text of a c10::Error without the backtrace, of all others what().
std::string message_of(const std::exception& error);
// Returns the same for the exception that is being handled.
std::string current_message();

}  // namespace flightdeck

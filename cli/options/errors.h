// SPDX-License-Identifier: MIT
// Exceptions as text for people.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <string>

namespace flightdeck::cli {

// Returns what went wrong, in the tool's words and without the stack trace of LibTorch's what().
std::string message_of(const std::exception& error);

// Calls `read`, which looks at the arguments of `command`. A value that does not exist or is out
// of range becomes a UsageError that begins with the command.
void read_arguments(const std::string& command, const std::function<void()>& read);

// Throws UsageError if an option was given, which `is_given` says, with a value below `least`.
void check_at_least(bool is_given, const std::string& option, int64_t value, int64_t least);

}  // namespace flightdeck::cli

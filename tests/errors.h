// SPDX-License-Identifier: MIT
// What an error says: the tests of bad input hold its text to the names and numbers it owes.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace flightdeck::tests {

// The message of what `call` throws, without a backtrace. Fails the running test if it throws
// nothing.
std::string error_of(const std::function<void()>& call);

// All of `words` must occur; within one word, alternatives are separated by '|'.
void expect_mentions(const std::string& message, const std::vector<std::string>& words);

// Both of the above.
void expect_error(const std::function<void()>& call, const std::vector<std::string>& words);

}  // namespace flightdeck::tests

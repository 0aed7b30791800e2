// SPDX-License-Identifier: MIT
// Counts allocations by operator new, which this test program replaces. Every tensor has an object
// from there, in LibTorch's code as in ours, so a count of 0 means that no tensor was made.
#pragma once

#include <cstdint>

namespace flightdeck::tests {

// Allocations of this thread so far.
int64_t allocations();

}  // namespace flightdeck::tests

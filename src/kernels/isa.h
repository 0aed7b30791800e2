// SPDX-License-Identifier: MIT
// Which instruction set the user wants.
#pragma once

#include <string_view>

namespace flightdeck::kernels {

// The environment's FLIGHTDECK_ISA; empty if it is not set.
std::string_view wished_isa();

}  // namespace flightdeck::kernels

// SPDX-License-Identifier: MIT
// Which instruction set the user wants.
#pragma once

#include <string_view>

namespace flightdeck::kernels {

// Returns the environment's FLIGHTDECK_ISA; empty if it is not set, or says nothing of the CPU.
std::string_view wished_isa();

// Returns true if it is gpu_reference: the CPU plays a GPU.
bool wishes_gpu_reference();

}  // namespace flightdeck::kernels

// SPDX-License-Identifier: MIT
// The states of LibTorch's default generators, which networks draw dropout and the like from.
#pragma once

#include <map>
#include <string>

#include <ATen/core/Tensor.h>

namespace flightdeck::run {

// Returns the states of the CPU and, if it is another, of `device`.
std::map<std::string, at::Tensor> random_states(const at::Device& device);

// Sets the states; `saved` may hold more.
void set_random_states(const std::map<std::string, at::Tensor>& saved, const at::Device& device);

}  // namespace flightdeck::run

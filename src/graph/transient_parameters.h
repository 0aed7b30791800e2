// SPDX-License-Identifier: MIT
// Parameters that have memory within passes alone: fully_shard of PyTorch keeps a piece of each on
// every process, gathers the whole for the passes of its module and frees it behind them. The
// tensor stays, and whoever reads it then reads nothing that is there.
#pragma once

#include <string>

#include <ATen/core/Tensor.h>

namespace flightdeck {

// Returns true if the memory is gone while the tensor is there.
bool is_freed(const at::Tensor& tensor);

// Notes such a parameter, trained or not, of which the program tells. It is not kept alive; its
// last name counts.
void add_transient(const std::string& name, const at::Tensor& whole);

// Returns true for a tensor that the program told of.
bool is_transient(const at::Tensor& tensor);

// Throws if a parameter that the program told of is freed, and names it. This is called before a
// pass of our own, for which nobody gathers parameters.
void check_transient();

}  // namespace flightdeck

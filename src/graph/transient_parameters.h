// SPDX-License-Identifier: MIT
// Parameters that have memory within passes alone: fully_shard of PyTorch keeps a piece of each on
// every process, gathers the whole for the passes of its module and frees it behind them. The
// tensor stays, and whoever reads it then reads nothing that is there.
#pragma once

#include <string>

#include <ATen/core/Tensor.h>

namespace flightdeck {

// True if the memory is gone while the tensor is there.
bool is_freed(const at::Tensor& tensor);

// The program tells of such a parameter, trained or not. It is not kept alive; its last name
// counts.
void add_transient(const std::string& name, const at::Tensor& whole);

// True of a tensor that was told of.
bool is_transient(const at::Tensor& tensor);

// Before a pass of our own, which nobody gathers parameters for: throws if one that was told of is
// freed, and names it.
void check_transient();

}  // namespace flightdeck

// SPDX-License-Identifier: MIT
// Models that a run keeps on its way: RUN/models/step_00000010.pt, parameters and buffers before
// that step, to be looked at afterwards. No run goes on with them; checkpoint.h is for that.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

namespace torch::nn {
class Module;
}

namespace flightdeck::run {

using at::Tensor;

/// Writes the file whole or not at all, in place of one that is there. Throws if the disk does not
/// take it.
void keep_model(const std::string& run_folder, int64_t step, const torch::nn::Module& module);

/// Returns the steps that were kept, ascending.
std::vector<int64_t> kept_steps(const std::string& run_folder);

/// Copies parameters and buffers of that step into the module. Throws, naming the file, if there is
/// none, if it cannot be read, or if names or shapes are others.
void load_kept_model(const std::string& run_folder, int64_t step, torch::nn::Module& module);

}  // namespace flightdeck::run

// SPDX-License-Identifier: MIT
// Which parameters the penalty of a problem acts upon.
#pragma once

#include <string>

#include <ATen/core/Tensor.h>

namespace flightdeck::suite {

/// True for convolution and dense weights: parameters called "weight" with two dimensions or more,
/// no biases and no scales of normalisation.
bool is_penalised(const std::string& name, const at::Tensor& parameter);

}  // namespace flightdeck::suite

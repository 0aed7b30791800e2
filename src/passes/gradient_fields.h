// SPDX-License-Identifier: MIT
// The tensors of ParameterGradients with the needs that fill them, for messages about a missing
// one.
#pragma once

#include <string>

#include "flightdeck/gradients.h"

namespace flightdeck {

/// Throws c10::ValueError if `field` of `result.parameters[parameter]` is undefined: because the
/// backward pass did not reach the parameter, or because nobody asked for it.
void check_field(const Gradients& result, size_t parameter, Tensor ParameterGradients::*field);

/// The fields that no parameter of `result` has, with their needs: "mean (Need::kMean), ...".
std::string missing_fields(const Gradients& result);

}  // namespace flightdeck

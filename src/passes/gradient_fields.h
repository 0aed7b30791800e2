// SPDX-License-Identifier: MIT
// The tensors of ParameterGradients with the needs that fill them: for messages about a missing
// one, and for who asks whether a need is one of individual gradients.
#pragma once

#include <string>

#include "flightdeck/gradients.h"

namespace flightdeck {

// Throws c10::ValueError if `field` of `result.parameters[parameter]` is undefined: because the
// backward pass did not reach the parameter, or because nobody asked for it.
void check_field(const Gradients& result, size_t parameter, Tensor ParameterGradients::*field);

// The fields that no parameter of `result` has, with their needs: "mean (Need::kMean), ...".
std::string missing_fields(const Gradients& result);

// False if `what` is answered by the gradient that arrives alone, whatever the samples are.
bool asks_rows(Needs what);
// The same of all that a pass is asked.
bool asks_rows(Needs what, const GradientOptions& options);

}  // namespace flightdeck

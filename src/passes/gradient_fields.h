// SPDX-License-Identifier: MIT
// The tensors of ParameterGradients with the needs that fill them: for who lists them, for messages
// about a missing one, and for who asks whether a need is one of individual gradients.
#pragma once

#include <string>
#include <vector>

#include "flightdeck/gradients.h"

namespace flightdeck {

// Names a tensor of ParameterGradients and the need that asks for it.
struct GradientField {
  const char* name;      // "mean_dots"
  const char* asked_by;  // "Need::kMeanDots"
  const char* in_words;  // "products with the mean"
  Need need;
  Tensor ParameterGradients::*tensor;
  bool is_small;  // one number, or a few per sample: whatever the model is
};

// Returns the fields of the answers about rows and of the norm of the gradient that arrives, in the
// order of Need.
const std::vector<GradientField>& gradient_fields();

// Throws c10::ValueError if `field` of `result.parameters[parameter]` is undefined: because the
// backward pass did not reach the parameter, or because nobody asked for it.
void check_field(const Gradients& result, size_t parameter, Tensor ParameterGradients::*field);

// Lists the fields that no parameter of `result` has, with their needs: "mean (Need::kMean), ...".
std::string missing_fields(const Gradients& result);

// Returns false if `what` is answered by the gradient that arrives alone, whatever the samples are.
bool asks_rows(Needs what);
// Returns false if that is true of all that a pass is asked.
bool asks_rows(Needs what, const GradientOptions& options);

}  // namespace flightdeck

// SPDX-License-Identifier: MIT
// Recognises what is added to the losses but depends on no sample: an L2 penalty, say.
#pragma once

#include "graph/node_view.h"

namespace flightdeck {

/// True if the output is a sum or multiple of the inputs, so that a summand of an input is one of
/// the output.
bool is_additive(const NodeView& view);

/// True if everything below is built from parameters and constants alone, by sums, products,
/// powers, norms and views.
bool is_parameter_expression(compat::ag::Node* root);

}  // namespace flightdeck

// SPDX-License-Identifier: MIT
// Questions to the engine about an adverse model, each held to plain autograd.
#pragma once

#include "conformance/adverse_model.h"
#include "conformance/verdicts.h"

namespace flightdeck::tests {

// gradients() and watches over loops of many kinds, with random needs and options.
void ask_first_order(uint64_t seed, const AdverseModel& model, Sketch& dice, Verdicts& verdicts);

// Diagonals, traces, products with Hessian, GGN and Fisher, and the Gram spectrum.
void ask_second_order(uint64_t seed, const AdverseModel& model, Sketch& dice, Verdicts& verdicts);

// A cockpit over two steps.
void ask_cockpit(uint64_t seed, const AdverseModel& model, Sketch& dice, Verdicts& verdicts);

// Statistics of samples that nearly agree, in float32.
void ask_nearly_equal(uint64_t seed, Verdicts& verdicts);

}  // namespace flightdeck::tests

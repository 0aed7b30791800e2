// SPDX-License-Identifier: MIT
// Hooks on tensors that are known to hand on the gradient that they see.
#pragma once

#include "graph/torch_compat.h"

namespace flightdeck {

using IsHarmless = bool (*)(const compat::ag::FunctionPreHook& hook);

// Sets how a program that can have such hooks (one in Python) tells which they are. By default none
// is.
void set_harmless_hooks(IsHarmless is_harmless);
bool is_harmless(const compat::ag::FunctionPreHook& hook);

}  // namespace flightdeck

// SPDX-License-Identifier: MIT
// A network of today's size, for benchmarks alone.
#pragma once

namespace flightdeck::cli {

// The problem has this name.
constexpr const char* kGpt2 = "gpt2_small";

// Adds the network to the problems of this process: 124 million parameters, 512 tokens, batch 8,
// bfloat16 where the processor multiplies matrices. Tokens are made up, because their values do not
// change the cost.
void add_gpt2();

}  // namespace flightdeck::cli

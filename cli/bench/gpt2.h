// SPDX-License-Identifier: MIT
// A network of today's size, for benchmarks alone.
#pragma once

namespace flightdeck::cli {

// The problem's name.
constexpr const char* kGpt2 = "gpt2_small";

// Adds it to the problems of this process: 124 million parameters, 512 tokens, batch 8, bfloat16
// where the processor multiplies matrices. Tokens are made up: what they are costs nothing.
void add_gpt2();

}  // namespace flightdeck::cli

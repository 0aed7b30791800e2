// SPDX-License-Identifier: MIT
// GPTs on characters, or on tokens of any other kind.
#pragma once

#include "suite/problem.h"

namespace flightdeck::suite::nets {

/// Turns characters [N, 50] into logits [N, 83, 50]; those at a place depend on it and the places
/// before.
Model gpt();

struct GptSize {
  int64_t vocabulary, length, width, heads, layers;
  double dropout;
  bool is_tied;  ///< the head is the embedding, transposed
};
/// Turns characters [N, T <= length] into logits [N, vocabulary, T].
Model gpt_of(const GptSize& size);

}  // namespace flightdeck::suite::nets

// SPDX-License-Identifier: MIT
// DeepOBS's recurrent network on characters: two LSTM layers.
#pragma once

#include "suite/problem.h"

namespace flightdeck::suite::nets {

/// Turns characters [N, T] into logits [N, 83, T]. The state after a batch is the next one's start,
/// apart for training and evaluation; gradients end between them.
Model char_rnn();

}  // namespace flightdeck::suite::nets

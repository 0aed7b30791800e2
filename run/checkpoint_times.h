// SPDX-License-Identifier: MIT
// When a run keeps a checkpoint that nobody asked for.
#pragma once

namespace flightdeck::run {

// Returns whether it is time after `seconds` since the run began or kept one. A small problem would
// spend its time on checkpoints; a long epoch must not lose more than a minute.
inline bool is_checkpoint_time(bool ends_epoch, double seconds) {
  constexpr double kAtEndOfEpoch = 30, kAnywhere = 45;
  return seconds >= (ends_epoch ? kAtEndOfEpoch : kAnywhere);
}

}  // namespace flightdeck::run

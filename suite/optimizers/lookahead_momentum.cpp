// SPDX-License-Identifier: MIT
#include "suite/optimizers/lookahead.h"
#include "suite/optimizers/momentum.h"

namespace flightdeck::suite {
namespace optimizers {

OptimizerEntry lookahead_momentum() {
  return entry_of<LookaheadOptions<MomentumOptions>>("slow weights behind the steps of momentum");
}

}  // namespace optimizers
}  // namespace flightdeck::suite

// SPDX-License-Identifier: MIT
#include "suite/optimizers/lookahead.h"
#include "suite/optimizers/radam.h"

namespace flightdeck::suite {
namespace optimizers {

OptimizerEntry lookahead_radam() {
  return entry_of<LookaheadOptions<RAdamOptions>>("slow weights behind the steps of radam");
}

}  // namespace optimizers
}  // namespace flightdeck::suite

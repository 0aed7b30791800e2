// SPDX-License-Identifier: MIT
// A build without CUDA cannot ask a GPU for its name.
#include "cli/machine/gpus.h"

namespace flightdeck::cli {

std::vector<std::string> gpu_names() { return {}; }

}  // namespace flightdeck::cli

// SPDX-License-Identifier: MIT
#include "kernels/isa.h"

#include <cstdlib>

namespace flightdeck::kernels {

std::string_view wished_isa() {
  const char* const wish = std::getenv("FLIGHTDECK_ISA");
  return wish == nullptr ? std::string_view() : std::string_view(wish);
}

}  // namespace flightdeck::kernels

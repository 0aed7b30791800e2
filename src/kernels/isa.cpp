// SPDX-License-Identifier: MIT
#include "kernels/isa.h"

#include <cstdlib>

namespace flightdeck::kernels {

namespace {

std::string_view wish() {
  const char* const text = std::getenv("FLIGHTDECK_ISA");
  return text == nullptr ? std::string_view() : std::string_view(text);
}

}  // namespace

bool wishes_gpu_reference() { return wish() == "gpu_reference"; }

std::string_view wished_isa() { return wishes_gpu_reference() ? std::string_view() : wish(); }

}  // namespace flightdeck::kernels

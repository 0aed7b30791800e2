// SPDX-License-Identifier: MIT
#include "cli/text/quiet.h"

namespace flightdeck::cli {
namespace {

bool& quiet() {
  static bool is_wanted = false;
  return is_wanted;
}

}  // namespace

void be_quiet() { quiet() = true; }
bool is_quiet() { return quiet(); }

}  // namespace flightdeck::cli

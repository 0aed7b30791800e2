// SPDX-License-Identifier: MIT
#include "cli/text/colour.h"

#include <cstdlib>
#include <unistd.h>

namespace flightdeck::cli {

bool has_colours(int file_descriptor) {
  const char* refusal = std::getenv("NO_COLOR");
  if (refusal != nullptr && *refusal != '\0') return false;
  const char* terminal = std::getenv("TERM");
  if (terminal == nullptr || std::string(terminal) == "dumb") return false;
  return isatty(file_descriptor) != 0;
}

std::string coloured(const std::string& text, Colour colour, int file_descriptor) {
  if (!has_colours(file_descriptor)) return text;
  return "\033[" + std::to_string(static_cast<int>(colour)) + "m" + text + "\033[0m";
}

}  // namespace flightdeck::cli

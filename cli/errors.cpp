// SPDX-License-Identifier: MIT
#include "cli/errors.h"

#include <c10/util/Exception.h>

namespace flightdeck::cli {

std::string message_of(const std::exception& error) {
  const auto* from_torch = dynamic_cast<const c10::Error*>(&error);
  return from_torch != nullptr ? from_torch->what_without_backtrace() : error.what();
}

}  // namespace flightdeck::cli

// SPDX-License-Identifier: MIT
#include "cli/errors.h"

#include <c10/util/Exception.h>

#include "cli/commands.h"

namespace flightdeck::cli {

std::string message_of(const std::exception& error) {
  const auto* from_torch = dynamic_cast<const c10::Error*>(&error);
  return from_torch != nullptr ? from_torch->what_without_backtrace() : error.what();
}

void read_arguments(const std::string& command, const std::function<void()>& read) {
  try {
    read();
  } catch (const UsageError& error) {
    throw UsageError(command + ": " + error.what());
  } catch (const c10::ValueError& error) {
    throw UsageError(command + ": " + message_of(error));
  }
}

}  // namespace flightdeck::cli

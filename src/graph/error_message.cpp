// SPDX-License-Identifier: MIT
#include "graph/error_message.h"

#include <c10/util/Exception.h>

namespace flightdeck {

std::string message_of(const std::exception& error) {
  const auto* torch_error = dynamic_cast<const c10::Error*>(&error);
  const std::string text = torch_error ? torch_error->what_without_backtrace() : error.what();
  // Where LibTorch has no op for a kind of tensor, a table of all kinds follows.
  return text.substr(0, text.find("\n\n"));
}

std::string current_message() {
  try {
    throw;
  } catch (const std::exception& error) {
    return message_of(error);
  } catch (...) {
    return "something was thrown that is no std::exception";
  }
}

}  // namespace flightdeck

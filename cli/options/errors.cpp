// SPDX-License-Identifier: MIT
#include "cli/options/errors.h"

#include <stdexcept>

#include <c10/util/Exception.h>

#include "cli/options/usage_error.h"
#include "cli/text/tool_words.h"
#include "graph/error_message.h"

namespace flightdeck::cli {

std::string message_of(const std::exception& error) {
  return in_words_of_the_tool(flightdeck::message_of(error));
}

void read_arguments(const std::string& command, const std::function<void()>& read) {
  try {
    read();
  } catch (const UsageError& error) {
    throw UsageError(command + ": " + error.what());
  } catch (const c10::ValueError& error) {
    throw UsageError(command + ": " + message_of(error));
  } catch (const std::invalid_argument& error) {
    throw UsageError(command + ": " + message_of(error));
  }
}

void check_at_least(bool is_given, const std::string& option, int64_t value, int64_t least) {
  if (!is_given || value >= least) return;
  throw UsageError(option + " is " + std::to_string(value) + " but must be at least " +
                   std::to_string(least));
}

}  // namespace flightdeck::cli

// SPDX-License-Identifier: MIT
// The two ways an alert goes, each within a time limit. They return what went wrong, empty if
// nothing did, and are called by the thread of the alerts alone.
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace flightdeck::lamps {

using AlertDeadline = std::chrono::steady_clock::time_point;

// Returns the milliseconds until the deadline, at least 0.
inline int milliseconds_until(AlertDeadline deadline) {
  using std::chrono::duration_cast;
  const auto left =
      duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
  return left.count() > 0 ? static_cast<int>(left.count()) : 0;
}

using Environment = std::vector<std::pair<std::string, std::string>>;

// Runs the command by /bin/sh with `input` on its standard input and kills its process group when
// the time is over.
std::string run_command(const std::string& command,
                        const std::string& input,
                        const Environment& environment,
                        AlertDeadline deadline);

struct WebAddress {
  std::string host, port, path;
};

// Takes the address apart. Throws std::invalid_argument, which says what is wrong.
WebAddress web_address(const std::string& url);

// Posts the JSON. Anything but a status from 200 to 299 is a failure.
std::string post_json(const WebAddress& address, const std::string& json, AlertDeadline deadline);

}  // namespace flightdeck::lamps

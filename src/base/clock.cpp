// SPDX-License-Identifier: MIT
#include "base/clock.h"

#include <chrono>
#include <cmath>
#include <ctime>

namespace flightdeck {
namespace {

std::string local_time(double seconds_since_1970, const char* format) {
  // A record may say anything; the year 5138 is far enough.
  if (!(std::abs(seconds_since_1970) < 1e11)) return "?";
  const auto seconds = static_cast<std::time_t>(seconds_since_1970);
  std::tm parts{};
  localtime_r(&seconds, &parts);
  char text[64];
  return {text, std::strftime(text, sizeof text, format, &parts)};
}

}  // namespace

double seconds_since_1970() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string date_and_time(double seconds_since_1970) {
  return local_time(seconds_since_1970, "%Y-%m-%d %H:%M:%S");
}

std::string compact_date_and_time(double seconds_since_1970) {
  return local_time(seconds_since_1970, "%Y%m%d-%H%M%S");
}

}  // namespace flightdeck

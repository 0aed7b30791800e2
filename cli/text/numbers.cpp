// SPDX-License-Identifier: MIT
#include "cli/text/numbers.h"

#include <array>
#include <cmath>
#include <cstdio>

namespace flightdeck::cli {
namespace {

template <typename... Values>
std::string formatted(const char* format, Values... values) {
  std::array<char, 64> buffer{};
  std::snprintf(buffer.data(), buffer.size(), format, values...);
  return buffer.data();
}

}  // namespace

std::string duration(double seconds) {
  if (!(seconds >= 0 && seconds < 1e15)) return "?";
  if (seconds < 9.95) return formatted("%.1f s", seconds);
  const auto whole = static_cast<long long>(std::llround(seconds));
  if (whole < 60) return formatted("%lld s", whole);
  if (whole < 3600) return formatted("%lld min %02lld s", whole / 60, whole % 60);
  return formatted("%lld h %02lld min", whole / 3600, whole % 3600 / 60);
}

std::string bytes(double count) {
  const char* unit = "B";
  for (const char* larger : {"kB", "MB", "GB", "TB"}) {
    if (count < 1000) break;
    count /= 1000;
    unit = larger;
  }
  return formatted("%.3g %s", count, unit);
}

std::string counted(int64_t count, const std::string& thing) {
  return std::to_string(count) + " " + thing + (count == 1 ? "" : "s");
}

}  // namespace flightdeck::cli

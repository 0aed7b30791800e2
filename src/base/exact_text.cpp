// SPDX-License-Identifier: MIT
#include "base/exact_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace flightdeck {
namespace {

using Layout = std::chars_format;

// Returns true where printf's %g writes a power of ten: below 0.0001, and where a plain number
// would have more than six digits of which the last are zeros that say nothing.
bool needs_power(double size) {
  if (size < 1e6) return size < 1e-4 && size != 0;
  char text[32];
  const char* end = std::to_chars(text, text + sizeof text, size, Layout::scientific).ptr;
  const char* mark = std::find<const char*>(text, end, 'e');
  const auto digits = mark - text - (mark - text > 1 ? 1 : 0);  // without the point
  int exponent = 0;
  std::from_chars(mark + 2, end, exponent);  // behind "e+"
  return exponent >= digits;
}

}  // namespace

void append_exact_text(std::string& text, double value) {
  if (std::isnan(value)) {
    text += "NaN";
  } else if (std::isinf(value)) {
    text += value > 0 ? "Infinity" : "-Infinity";
  } else {
    char digits[32];
    const Layout layout = needs_power(std::abs(value)) ? Layout::scientific : Layout::fixed;
    text.append(digits, std::to_chars(digits, digits + sizeof digits, value, layout).ptr);
  }
}

std::string exact_text(double value) {
  std::string text;
  append_exact_text(text, value);
  return text;
}

double rounded(double value, int digits) {
  char text[40];
  std::snprintf(text, sizeof text, "%.*g", digits, value);
  return std::strtod(text, nullptr);
}

}  // namespace flightdeck

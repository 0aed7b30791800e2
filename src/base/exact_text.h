// SPDX-License-Identifier: MIT
// Numbers as text from which the same number is read back.
#pragma once

#include <string>

namespace flightdeck {

// Writes the fewest digits that read back as the same number, laid out as printf's %g does:
// "0.0001", "100000", "1e-05", "NaN", "-Infinity". strtod reads all of them.
std::string exact_text(double value);

// Appends that text, which saves a string for each of a million numbers.
void append_exact_text(std::string& text, double value);

// Returns the number with `digits` significant decimal digits that is nearest to `value`.
double rounded(double value, int digits);

}  // namespace flightdeck

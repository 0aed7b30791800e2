// SPDX-License-Identifier: MIT
// What the terminal can show, and the characters to show it with.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace flightdeck::cli {

// Returns true if the locale's characters are UTF-8 (LC_ALL, LC_CTYPE, LANG, in this order).
bool is_utf8();

// Returns the columns of the terminal behind this file descriptor; `fallback` if it is none.
int terminal_width(int file_descriptor, int fallback);

// Draws one line of bars, `width` at most, lowest value to highest; neighbours are averaged where
// there are more values than columns. Values that are not finite are shown as 'x', differences
// beyond the fourth digit not at all.
std::string sparkline(const std::vector<double>& values, size_t width, bool utf8);

// Draws bars from zero to the highest count on a logarithmic scale, `width` at most; neighbours are
// added up. A count above zero is never blank.
std::string bar_line(const std::vector<int64_t>& counts, size_t width, bool utf8);

// Draws "[#####-----]" of `width` columns, filled up to `share` in [0, 1].
std::string progress_bar(double share, size_t width, bool utf8);

// Counts columns that a text takes: UTF-8 characters, not bytes.
size_t display_width(const std::string& text);
// Fills up with blanks to `width` columns, to the right or to the left of the text.
std::string pad_right(const std::string& text, size_t width);
std::string pad_left(const std::string& text, size_t width);

// Writes "record      runs/first": a label of twelve columns and what it labels.
std::string fact_line(const std::string& label, const std::string& text);

// Breaks `text` between words into lines of at most `width` columns; all but the first begin with
// `indent` blanks.
std::string wrapped(const std::string& text, size_t width, size_t indent);

}  // namespace flightdeck::cli

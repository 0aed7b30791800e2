// SPDX-License-Identifier: MIT
#include "cli/text/terminal.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <sstream>
#include <sys/ioctl.h>
#include <unistd.h>

namespace flightdeck::cli {
namespace {

// Returns the bars from empty to full.
const std::vector<std::string>& bars(bool utf8) {
  static const std::vector<std::string> blocks = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  static const std::vector<std::string> characters = {"_", ".", ":", "-", "=", "+", "*", "#"};
  return utf8 ? blocks : characters;
}

// Returns the bar for a height in [0, 1].
const std::string& bar(double height, bool utf8) {
  const std::vector<std::string>& all = bars(utf8);
  const double last = static_cast<double>(all.size() - 1);
  return all[static_cast<size_t>(std::lround(std::clamp(height, 0.0, 1.0) * last))];
}

// Returns where the piece `index` of `pieces` nearly equal ones of `count` things begins.
size_t piece_begin(size_t index, size_t pieces, size_t count) { return index * count / pieces; }

double mean_of(const std::vector<double>& values, size_t begin, size_t end) {
  double sum = 0;
  for (size_t k = begin; k < end; ++k) sum += values[k];
  return sum / static_cast<double>(end - begin);
}

}  // namespace

bool is_utf8() {
  for (const char* variable : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(variable);
    if (value == nullptr || *value == '\0') continue;
    std::string name(value);
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char character) {
      return static_cast<char>(std::tolower(character));
    });
    return name.find("utf-8") != std::string::npos || name.find("utf8") != std::string::npos;
  }
  return false;
}

int terminal_width(int file_descriptor, int fallback) {
  winsize size{};
  if (isatty(file_descriptor) == 0 || ioctl(file_descriptor, TIOCGWINSZ, &size) != 0) {
    return fallback;
  }
  return size.ws_col > 0 ? size.ws_col : fallback;
}

std::string sparkline(const std::vector<double>& values, size_t width, bool utf8) {
  const size_t columns = std::min(width, values.size());
  std::vector<double> means;
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (size_t k = 0; k < columns; ++k) {
    means.push_back(mean_of(values,
                            piece_begin(k, columns, values.size()),
                            piece_begin(k + 1, columns, values.size())));
    if (!std::isfinite(means.back())) continue;
    low = std::min(low, means.back());
    high = std::max(high, means.back());
  }
  // Differences that four digits do not show are drawn as a flat line.
  const bool is_flat = high - low <= 5e-5 * std::max(std::abs(high), std::abs(low));
  std::string line;
  for (const double mean : means) {
    if (!std::isfinite(mean)) {
      line += "x";
    } else {
      line += bar(is_flat ? 0.5 : (mean - low) / (high - low), utf8);
    }
  }
  return line;
}

std::string bar_line(const std::vector<int64_t>& counts, size_t width, bool utf8) {
  const size_t columns = std::min(width, counts.size());
  std::vector<double> heights;
  for (size_t k = 0; k < columns; ++k) {
    double sum = 0;
    for (size_t bin = piece_begin(k, columns, counts.size());
         bin < piece_begin(k + 1, columns, counts.size());
         ++bin) {
      sum += static_cast<double>(counts[bin]);
    }
    heights.push_back(std::log1p(sum));
  }
  const double highest = heights.empty() ? 0.0 : *std::max_element(heights.begin(), heights.end());
  std::string line;
  for (const double height : heights) line += height > 0 ? bar(height / highest, utf8) : " ";
  return line;
}

std::string progress_bar(double share, size_t width, bool utf8) {
  const auto full = static_cast<size_t>(std::clamp(share, 0.0, 1.0) * static_cast<double>(width));
  std::string bar = "[";
  for (size_t k = 0; k < width; ++k) bar += k < full ? (utf8 ? "█" : "#") : (utf8 ? "·" : "-");
  return bar + "]";
}

size_t display_width(const std::string& text) {
  // Every byte but the continuation bytes 10xxxxxx begins a character.
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char character) {
    return (static_cast<unsigned char>(character) & 0xC0) != 0x80;
  }));
}

std::string pad_right(const std::string& text, size_t width) {
  const size_t taken = display_width(text);
  return taken < width ? text + std::string(width - taken, ' ') : text;
}

std::string pad_left(const std::string& text, size_t width) {
  const size_t taken = display_width(text);
  return taken < width ? std::string(width - taken, ' ') + text : text;
}

std::string fact_line(const std::string& label, const std::string& text) {
  return pad_right(label, 12) + text;
}

std::string wrapped(const std::string& text, size_t width, size_t indent) {
  std::istringstream words(text);
  std::string out;
  size_t column = indent;
  for (std::string word; words >> word;) {
    const size_t length = display_width(word);
    if (!out.empty() && column + 1 + length > width) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (!out.empty()) {
      out += " ";
      ++column;
    }
    out += word;
    column += length;
  }
  return out;
}

}  // namespace flightdeck::cli

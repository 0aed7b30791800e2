// SPDX-License-Identifier: MIT
#include "study/figure.h"

#include <algorithm>
#include <limits>

namespace flightdeck::study {
namespace {

struct Range {
  bool is_log;
  double low = std::numeric_limits<double>::infinity(), high = -low;

  void include(const std::vector<double>& values) {
    for (const double value : values) {
      if (!std::isfinite(value) || (is_log && value <= 0)) continue;
      low = std::min(low, value);
      high = std::max(high, value);
    }
  }

  // Widens both ends by `share` of the length.
  void widen(double share) {
    if (!(low <= high)) {
      low = is_log ? 1 : 0;
      high = is_log ? 10 : 1;
    }
    if (is_log) {
      const double factor = high > low ? std::pow(high / low, share) : 2;
      low /= factor;
      high *= factor;
      return;
    }
    const double room = high > low ? share * (high - low) : std::max(std::fabs(low), 1.0) / 2;
    low -= room;
    high += room;
  }
};

}  // namespace

const std::vector<Colour>& colours() {
  static const std::vector<Colour> all = {{"#0072b2", "#4fa8dc"},
                                          {"#d55e00", "#f0803c"},
                                          {"#009e73", "#2fc79b"},
                                          {"#cc79a7", "#dd93bb"},
                                          {"#e69f00", "#f0b429"},
                                          {"#56b4e9", "#8accf2"},
                                          {"#222222", "#e8e8e8"},
                                          {"#7f7f7f", "#9a9a9a"}};
  return all;
}

Line line_of(const std::string& name,
             size_t place,
             const std::vector<double>& x,
             const std::vector<double>& y) {
  Line line;
  line.name = line.hint = name;
  line.look.colour = static_cast<int>(place % colours().size());
  for (size_t k = 0; k < std::min(x.size(), y.size()); ++k) {
    if (!std::isfinite(x[k]) || !std::isfinite(y[k])) continue;
    line.x.push_back(x[k]);
    line.y.push_back(y[k]);
  }
  return line;
}

Line dots_of(const std::string& name,
             size_t place,
             const std::vector<double>& x,
             const std::vector<double>& y) {
  Line line = line_of(name, place, x, y);
  line.style = Line::Style::kMarks;
  line.look.marker = 1;
  return line;
}

void fit_limits(Panel& panel) {
  Range x{panel.is_log_x}, y{panel.is_log_y};
  for (const Line& line : panel.lines) {
    x.include(line.x);
    y.include(line.y);
    y.include(line.low);
    y.include(line.high);
  }
  y.include({panel.level});
  x.widen(panel.is_stepped ? 0 : 0.02);
  y.widen(0.05);
  panel.x_low = x.low;
  panel.x_high = x.high;
  panel.y_low = y.low;
  panel.y_high = y.high;
}

}  // namespace flightdeck::study

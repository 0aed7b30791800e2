// SPDX-License-Identifier: MIT
#include "study/grid.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <stdexcept>

#include "src/base/exact_text.h"

namespace flightdeck::study {
namespace {

constexpr double kMostValues = 10000;

[[noreturn]] void refuse(const std::string& text, const std::string& why) {
  throw std::invalid_argument("the grid is '" + text + "' but " + why +
                              "; write NAME=LOW:HIGH:COUNT for values on a logarithmic scale or "
                              "NAME=VALUE,VALUE,..., for example learning_rate=1e-5:1e2:36");
}

std::vector<double> numbers(const std::string& all, char separator, const std::string& text) {
  std::vector<double> values;
  for (size_t begin = 0; begin <= all.size();) {
    const size_t end = std::min(all.find(separator, begin), all.size());
    const std::string word = all.substr(begin, end - begin);
    char* rest = nullptr;
    const double value = std::strtod(word.c_str(), &rest);
    if (word.empty() || *rest != '\0') refuse(text, "'" + word + "' is no number");
    values.push_back(value);
    begin = end + 1;
  }
  return values;
}

std::vector<double> log_spaced(const std::vector<double>& parts, const std::string& text) {
  if (parts.size() != 3) refuse(text, "it has " + std::to_string(parts.size()) + " parts");
  const double low = parts[0], high = parts[1], count = parts[2];
  if (!(low > 0 && low < high && std::isfinite(high))) refuse(text, "0 < LOW < HIGH does not hold");
  if (!(count >= 2 && count <= kMostValues && count == std::floor(count))) {
    refuse(text, "COUNT is no whole number from 2 to 10000");
  }
  std::vector<double> values;
  for (double k = 0; k < count; ++k) {
    values.push_back(rounded(low * std::pow(high / low, k / (count - 1)), 6));
  }
  return values;
}

}  // namespace

GridAxis grid_axis(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) refuse(text, "it has no NAME=");
  GridAxis axis{text.substr(0, equals), {}};
  const std::string values = text.substr(equals + 1);
  axis.values = values.find(':') == std::string::npos
                    ? numbers(values, ',', text)
                    : log_spaced(numbers(values, ':', text), text);
  for (size_t k = 0; k < axis.values.size(); ++k) {
    for (size_t i = 0; i < k; ++i) {
      if (axis.values[i] == axis.values[k]) refuse(text, "it has a value twice");
    }
  }
  return axis;
}

std::vector<Values> grid_points(const std::vector<GridAxis>& axes) {
  std::vector<Values> points = {{}};
  for (const GridAxis& axis : axes) {
    std::vector<Values> longer;
    for (const Values& point : points) {
      for (const double value : axis.values) {
        longer.push_back(point);
        longer.back()[axis.name] = value;
      }
    }
    points = std::move(longer);
  }
  return points;
}

}  // namespace flightdeck::study

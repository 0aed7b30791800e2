// SPDX-License-Identifier: MIT
#include "lamps/recent.h"

#include <algorithm>
#include <cstdio>

#include "base/order_statistics.h"
#include "lamps/fields.h"

namespace flightdeck::lamps {
namespace {

constexpr size_t kMostNamed = 4;

// Reads from where the points would begin if they were evenly spaced, and from earlier if they are
// not. This keeps looks at a growing run of a million steps cheap.
std::vector<NumberPoint> last_points(const RunReader& run,
                                     const SeriesInfo& series,
                                     int64_t count) {
  const int64_t span = series.last_step - series.first_step;
  for (int64_t reach = 2 * count;; reach *= 4) {
    StepRange range;
    if (reach < series.count) range.first = series.last_step - (span / series.count + 1) * reach;
    std::vector<NumberPoint> points = run.numbers(series.id, range);
    const auto size = static_cast<int64_t>(points.size());
    if (size < count && reach < series.count) continue;
    points.erase(points.begin(), points.end() - std::min(size, count));
    return points;
  }
}

}  // namespace

double Recent::median() const {
  std::vector<double> values;
  for (const NumberPoint& point : points) values.push_back(point.value);
  return flightdeck::median(std::move(values));
}

std::string Recent::where() const {
  return " (median of " + std::to_string(points.size()) + " values up to step " +
         std::to_string(points.back().step) + ')';
}

std::vector<Recent> recent(const LampView& view, const std::string& quantity, int64_t count) {
  std::vector<Recent> all;
  for (const SeriesInfo& series : view.series) {
    const bool is_asked = series.quantity == quantity && series.kind == ReadingKind::kNumber;
    if (!is_asked || series.count < count) continue;
    all.push_back({series, last_points(view.run, series, count)});
  }
  return all;
}

Recent recent_of_model(const LampView& view, const std::string& quantity, int64_t count) {
  return recent_field(view, quantity, "", count);
}

Recent recent_field(const LampView& view,
                    const std::string& quantity,
                    const std::string& field,
                    int64_t count) {
  const SeriesInfo* series = view.find(quantity, "", field);
  if (!series || series->kind != ReadingKind::kNumber || series->count < count) return {};
  return {*series, last_points(view.run, *series, count)};
}

std::string short_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (size_t k = 0; k < std::min(names.size(), kMostNamed); ++k) {
    text += (k == 0 ? "" : ", ") + names[k];
  }
  if (names.size() <= kMostNamed) return text;
  return text + " and " + std::to_string(names.size() - kMostNamed) + " more";
}

}  // namespace flightdeck::lamps

// SPDX-License-Identifier: MIT
#include "lamps/fields.h"

#include <cmath>
#include <utility>

#include "lamps/recent.h"

namespace flightdeck::lamps {

Recent first_of_field(const LampView& view,
                      const std::string& quantity,
                      const std::string& field,
                      int64_t count) {
  const SeriesInfo* series = view.find(quantity, "", field);
  if (!series || series->kind != ReadingKind::kNumber || series->count < count) return {};
  return {*series, view.run.numbers(series->id, {}, count)};
}

int64_t count_of(const LampView& view, const std::string& quantity, const std::string& field) {
  const SeriesInfo* series = view.find(quantity, "", field);
  return series ? series->count : 0;
}

void light_by_median(Lamp& lamp,
                     const Pictured& judged,
                     int64_t count,
                     std::function<bool(double value)> is_bad,
                     std::function<void(Finding& finding, double value)> describe) {
  lamp.pictured = {judged};
  lamp.look = [=](const LampView& view) -> std::vector<Finding> {
    const Recent values = recent_field(view, judged.quantity, judged.field, count);
    if (values.points.empty() || !is_bad(values.median())) return {};
    Finding finding;
    finding.step = values.points.back().step;
    finding.quantity = judged.quantity;
    describe(finding, values.median());
    finding.evidence += values.where();
    return {finding};
  };
}

void light_above(Lamp& lamp,
                 const Pictured& judged,
                 int64_t count,
                 std::function<void(Finding& finding, double value)> describe) {
  const double limit = judged.limits.at(0);
  const auto is_above = [limit](double value) { return value > limit; };
  light_by_median(lamp, judged, count, is_above, std::move(describe));
}

void light_below(Lamp& lamp,
                 const Pictured& judged,
                 int64_t count,
                 std::function<void(Finding& finding, double value)> describe) {
  const double limit = judged.limits.at(0);
  const auto is_below = [limit](double value) { return value < limit; };
  light_by_median(lamp, judged, count, is_below, std::move(describe));
}

std::string percent_text(double share) { return std::to_string(std::lround(100 * share)) + " %"; }

}  // namespace flightdeck::lamps

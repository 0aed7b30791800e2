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

std::function<std::vector<Finding>(const LampView&)> for_median(
    const std::string& quantity,
    const std::string& field,
    int64_t count,
    std::function<bool(double value)> is_bad,
    std::function<void(Finding& finding, double value)> describe) {
  return [=](const LampView& view) -> std::vector<Finding> {
    const Recent values = recent_field(view, quantity, field, count);
    if (values.points.empty() || !is_bad(values.median())) return {};
    Finding finding;
    finding.step = values.points.back().step;
    finding.quantity = quantity;
    describe(finding, values.median());
    finding.evidence += values.where();
    return {finding};
  };
}

std::string percent_text(double share) { return std::to_string(std::lround(100 * share)) + " %"; }

}  // namespace flightdeck::lamps

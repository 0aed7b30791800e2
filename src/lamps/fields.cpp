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

namespace {

std::vector<std::string> groups_above(const LampView& view, const Pictured& judged) {
  std::vector<std::string> groups;
  for (const Recent& last : recent(view, judged.quantity, 1)) {
    const bool is_group = !last.series.group.empty() && last.series.field == judged.field;
    if (!is_group || !(last.points[0].value > judged.limits.at(0))) continue;
    groups.push_back(last.series.group);
  }
  return groups;
}

// Returns what stands between quotes in the last remark of the quantity that begins so.
std::vector<std::string> quoted_in_remark(const LampView& view,
                                          const std::string& quantity,
                                          const std::string& beginning) {
  std::vector<std::string> names;
  if (beginning.empty()) return names;
  for (const Note& note : view.notes) {
    const bool is_it = note.kind == NoteKind::kRemark && note.quantity == quantity &&
                       note.text.rfind(beginning, 0) == 0;
    if (!is_it) continue;
    names.clear();
    for (size_t end = 0;;) {
      const size_t begin = note.text.find('\'', end);
      if (begin == std::string::npos) break;
      end = note.text.find('\'', begin + 1);
      if (end == std::string::npos) break;
      names.push_back(note.text.substr(begin + 1, end - begin - 1));
      ++end;
    }
  }
  return names;
}

}  // namespace

void light_above_by_group(Lamp& lamp,
                          const Pictured& judged,
                          int64_t count,
                          const std::string& remark,
                          std::function<void(Finding& finding, double value)> describe) {
  light_above(lamp, judged, count, std::move(describe));
  lamp.look = [judged, remark, look = lamp.look](const LampView& view) {
    std::vector<Finding> findings = look(view);
    for (Finding& finding : findings) {
      const std::vector<std::string> parameters = quoted_in_remark(view, judged.quantity, remark);
      finding.layers = groups_above(view, judged);
      if (finding.layers.empty()) finding.layers = parameters;
      const std::vector<std::string>& named = parameters.empty() ? finding.layers : parameters;
      if (!named.empty()) finding.evidence += ": " + listed(named);
    }
    return findings;
  };
}

std::string percent_text(double share) { return std::to_string(std::lround(100 * share)) + " %"; }

}  // namespace flightdeck::lamps

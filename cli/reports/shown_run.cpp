// SPDX-License-Identifier: MIT
#include "cli/reports/shown_run.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "base/order_statistics.h"
#include "base/series_name.h"
#include "cli/options/names.h"

namespace flightdeck::cli {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

NumberSummary summary_of(const RunReader& run, const SeriesInfo& series) {
  NumberSummary summary;
  summary.name = series_name(series.quantity, series.field);
  summary.group = series.group;
  std::vector<double> finite;
  for (const NumberPoint& point : run.numbers(series.id)) {
    summary.values.push_back(point.value);
    if (std::isfinite(point.value)) finite.push_back(point.value);
  }
  summary.count = static_cast<int64_t>(summary.values.size());
  summary.not_finite = summary.count - static_cast<int64_t>(finite.size());
  summary.first = summary.values.empty() ? kNan : summary.values.front();
  summary.last = summary.values.empty() ? kNan : summary.values.back();
  summary.low = summary.high = summary.median = kNan;
  if (finite.empty()) return summary;
  const auto [low, high] = std::minmax_element(finite.begin(), finite.end());
  summary.low = *low;
  summary.high = *high;
  summary.median = median(std::move(finite));
  return summary;
}

LastReading last_of(const RunReader& run, const SeriesInfo& series) {
  LastReading last;
  last.name = series_name(series.quantity, series.field);
  last.group = series.group;
  last.count = series.count;
  last.step = series.last_step;
  const auto readings = run.readings(series.id, {series.last_step, series.last_step});
  if (!readings.empty()) last.reading = readings.back().second;
  return last;
}

void check_names(const std::vector<SeriesInfo>& series, const SummaryOptions& options) {
  std::set<std::string> quantities, groups = {"all"};
  for (const SeriesInfo& one : series) {
    quantities.insert(one.quantity);
    if (!one.group.empty()) groups.insert(one.group);
  }
  for (const std::string& name : options.quantities) {
    check_name("quantity in this run", name, {quantities.begin(), quantities.end()});
  }
  for (const std::string& name : options.groups) {
    check_name("group in this run", name, {groups.begin(), groups.end()});
  }
}

bool is_chosen(const SeriesInfo& series, const SummaryOptions& options) {
  if (options.groups.empty()) return series.group.empty();
  return contains(options.groups, "all") || contains(options.groups, series.group);
}

}  // namespace

std::string ShownRun::config(const std::string& key) const {
  const auto found = info.config.find(key);
  return found == info.config.end() ? "" : found->second;
}

bool ShownRun::is_synthetic() const { return config("synthetic") == "true"; }

ShownRun summarise(const std::string& folder, const RunReader& run, const SummaryOptions& options) {
  ShownRun summary;
  summary.folder = folder;
  summary.info = run.info();
  summary.status = run.status();
  summary.last_time = run.last_time();
  summary.last_step = run.last_step();
  summary.notes = run.notes();
  std::vector<SeriesInfo> all = run.series();
  check_names(all, options);
  std::stable_sort(all.begin(), all.end(), [](const SeriesInfo& a, const SeriesInfo& b) {
    return std::tie(a.group, a.quantity, a.field) < std::tie(b.group, b.quantity, b.field);
  });
  for (const SeriesInfo& series : all) {
    if (!options.quantities.empty() && !contains(options.quantities, series.quantity)) continue;
    if (!is_chosen(series, options)) {
      ++summary.hidden_series;
    } else if (series.kind == ReadingKind::kNumber) {
      summary.numbers.push_back(summary_of(run, series));
    } else {
      auto& place = series.kind == ReadingKind::kList ? summary.lists : summary.histograms;
      place.push_back(last_of(run, series));
    }
  }
  return summary;
}

}  // namespace flightdeck::cli

// SPDX-License-Identifier: MIT
#include <map>
#include <stdexcept>
#include <tuple>

#include "base/csv.h"
#include "base/exact_text.h"
#include "base/series_name.h"
#include "flightdeck/record.h"

namespace flightdeck {

void export_csv(const RunReader& run, std::ostream& out) {
  using Key = std::tuple<std::string, std::string, std::string>;
  std::map<Key, size_t> columns;
  out << "step,time";
  for (const SeriesInfo& series : run.series()) {
    if (series.kind != ReadingKind::kNumber) continue;
    columns.emplace(Key(series.quantity, series.field, series.group), columns.size());
    out << ',' << csv_field(series_name(series.quantity, series.field, series.group));
  }
  out << "\r\n";
  std::vector<std::string> cells;
  run.for_each_step([&](const StepReadings& step) {
    cells.assign(columns.size(), "");
    bool is_empty = true;
    for (const Reading& reading : step.readings) {
      // A run that goes on may get series after the first line was written.
      const auto column = columns.find(Key(reading.quantity, reading.field, reading.group));
      if (reading.kind != ReadingKind::kNumber || column == columns.end()) continue;
      cells[column->second] = exact_text(reading.number);
      is_empty = false;
    }
    if (is_empty) return;
    out << std::to_string(step.step) << ',' << exact_text(step.time) << ',' << csv_line(cells)
        << "\r\n";
  });
  if (!out.flush()) {
    throw std::runtime_error("export to CSV: the output cannot be written; free some space");
  }
}

}  // namespace flightdeck

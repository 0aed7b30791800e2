// SPDX-License-Identifier: MIT
#include "cli/reports/analyze_summary.h"

#include <algorithm>
#include <filesystem>

#include "cli/options/names.h"
#include "cli/text/json.h"
#include "cli/text/next_commands.h"
#include "cli/text/table.h"
#include "study/analysis/records.h"
#include "study/analysis/report.h"
#include "study/analysis/report_parts.h"

namespace flightdeck::cli {
namespace {

// Writes the first column and the columns [begin, end).
std::string columns_text(const study::ShownTable& shown, size_t begin, size_t end) {
  std::vector<size_t> places = {0};
  for (size_t k = begin; k < end; ++k) places.push_back(k);
  std::vector<std::string> names;
  for (const size_t place : places) names.push_back(shown.columns[place]);
  Table table(names);
  for (const std::vector<study::TableCell>& row : shown.rows) {
    std::vector<Cell> cells;
    for (const size_t place : places) cells.push_back(row[place].text);
    table.add(std::move(cells));
  }
  return padded_text(table);
}

// Breaks a table into several, one below the other, where it has more columns than a screen has
// room for.
std::string table_text(const study::ShownTable& shown, size_t most_columns) {
  std::string text = "\n" + shown.title + "\n";
  for (size_t begin = 1; begin < shown.columns.size(); begin += most_columns) {
    const size_t end = std::min(begin + most_columns, shown.columns.size());
    text += (begin == 1 ? "" : "\n") + columns_text(shown, begin, end);
  }
  return text;
}

// Writes an array of objects; numbers that are not finite are null.
Json json_of(const study::Records& records) {
  Json rows = Json::array();
  for (const std::vector<study::Value>& row : records.rows) {
    Json object = Json::object();
    for (size_t k = 0; k < row.size(); ++k) {
      object.field(records.columns[k],
                   std::visit([](const auto& value) { return Json(value); }, row[k]));
    }
    rows.add(object);
  }
  return rows;
}

}  // namespace

std::string analysis_text(const study::Analysis& analysis,
                          const std::vector<std::string>& files,
                          const std::vector<std::string>& next) {
  const study::AnalysisReport report = study::make_report(analysis);
  std::string text = joined(report.facts) + "\n";
  for (const std::string& warning : report.warnings) text += "note: " + warning + "\n";
  text += table_text(study::winners_table(analysis), 7);
  text += table_text(study::performance_table(analysis), 4);
  text += table_text(study::speed_table(analysis), 4);
  if (analysis.competitors.size() > 1) text += table_text(study::standing_table(analysis), 7);
  for (const std::string& file : files) {
    const std::string name = std::filesystem::path(file).filename().string();
    if (name == "index.html") text += "\nlook at " + file + "\n";
    if (name == "analysis.tex") text += "LaTeX: " + file + "\n";
    if (name == "performance.csv") text += "CSV: " + file + " and beside it\n";
  }
  if (!next.empty()) text += next_lines(next) + "\n";
  return text;
}

std::string analysis_json(const study::Analysis& analysis,
                          const std::vector<std::string>& files,
                          const std::vector<std::string>& next) {
  Json object = Json::object();
  object.field("runs", analysis.runs)
      .field("diverged", analysis.diverged)
      .field("baseline_runs", analysis.baseline_runs)
      .field("synthetic", analysis.has_synthetic)
      .field("metric", study::name_of(analysis.options.part))
      .field("problems", analysis.problems)
      .field("optimizers", analysis.competitors)
      .field("warnings", analysis.warnings);
  for (const study::Records& records : {study::performance_records(analysis),
                                        study::speed_records(analysis),
                                        study::target_records(analysis),
                                        study::tuneability_records(analysis),
                                        study::gain_summary_records(analysis),
                                        study::profile_score_records(analysis)}) {
    object.field(records.name, json_of(records));
  }
  return object.field("written", files).field("next", next).text() + "\n";
}

}  // namespace flightdeck::cli

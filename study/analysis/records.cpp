// SPDX-License-Identifier: MIT
#include "study/analysis/records.h"

#include <cmath>

#include "src/base/csv.h"
#include "src/base/exact_text.h"

namespace flightdeck::study {
namespace {

std::string number_cell(double value) {
  if (std::isnan(value)) return "";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return exact_text(value);
}

std::string cell(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return csv_field(*text);
  if (const auto* number = std::get_if<int64_t>(&value)) return std::to_string(*number);
  return number_cell(std::get<double>(value));
}

}  // namespace

std::string to_csv(const Records& records) {
  std::vector<std::string> fields;
  for (const std::string& column : records.columns) fields.push_back(csv_field(column));
  std::string text = csv_line(fields) + "\n";
  for (const std::vector<Value>& row : records.rows) {
    fields.clear();
    for (const Value& value : row) fields.push_back(cell(value));
    text += csv_line(fields) + "\n";
  }
  return text;
}

std::vector<Records> all_records(const Analysis& analysis) {
  std::vector<Records> all = {performance_records(analysis),
                              speed_records(analysis),
                              target_records(analysis),
                              tuneability_records(analysis),
                              sensitivity_records(analysis),
                              curve_records(analysis),
                              improvement_records(analysis),
                              gain_records(analysis),
                              gain_summary_records(analysis),
                              profile_records(analysis),
                              profile_score_records(analysis)};
  for (Records records :
       {seed_records(analysis), coordinate_records(analysis), retuning_records(analysis)}) {
    if (!records.rows.empty()) all.push_back(std::move(records));
  }
  return all;
}

}  // namespace flightdeck::study

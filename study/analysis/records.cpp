// SPDX-License-Identifier: MIT
#include "study/analysis/records.h"

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "src/base/csv_field.h"

namespace flightdeck::study {
namespace {

// The shortest text that reads back as the same number.
std::string exact(double value) {
  if (std::isnan(value)) return "";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  char text[32];
  for (const int digits : {15, 16, 17}) {
    std::snprintf(text, sizeof text, "%.*g", digits, value);
    if (std::strtod(text, nullptr) == value) break;
  }
  return text;
}

std::string cell(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return csv_field(*text);
  if (const auto* number = std::get_if<int64_t>(&value)) return std::to_string(*number);
  return exact(std::get<double>(value));
}

}  // namespace

std::string to_csv(const Records& records) {
  std::string text;
  for (size_t k = 0; k < records.columns.size(); ++k) {
    text += (k == 0 ? "" : ",") + csv_field(records.columns[k]);
  }
  text += "\n";
  for (const std::vector<Value>& row : records.rows) {
    for (size_t k = 0; k < row.size(); ++k) text += (k == 0 ? "" : ",") + cell(row[k]);
    text += "\n";
  }
  return text;
}

std::string to_json(const Records& records) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const std::vector<Value>& row : records.rows) {
    nlohmann::ordered_json object = nlohmann::ordered_json::object();
    for (size_t k = 0; k < row.size(); ++k) {
      std::visit([&](const auto& value) { object[records.columns[k]] = value; }, row[k]);
    }
    all.push_back(std::move(object));
  }
  return all.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::vector<Records> all_records(const Analysis& analysis) {
  return {performance_records(analysis),
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
}

}  // namespace flightdeck::study

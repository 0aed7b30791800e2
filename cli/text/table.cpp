// SPDX-License-Identifier: MIT
#include "cli/text/table.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <variant>

#include "base/csv.h"
#include "base/exact_text.h"
#include "cli/text/numbers.h"
#include "cli/text/terminal.h"
#include "record/text.h"

namespace flightdeck::cli {

namespace {

// Writes for people: numbers with four digits.
std::string shown(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell.value())) return record::printable(*text);
  if (const auto* number = std::get_if<double>(&cell.value())) return short_number(*number);
  return std::to_string(std::get<int64_t>(cell.value()));
}

// Writes numbers with all digits; "nan", "-inf".
std::string csv_cell(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell.value())) return csv_field(*text);
  const auto* number = std::get_if<double>(&cell.value());
  return number != nullptr && std::isfinite(*number) ? exact_text(*number) : shown(cell);
}

Json json_cell(const Cell& cell) {
  return std::visit([](const auto& value) { return Json(value); }, cell.value());
}

}  // namespace

std::string padded_text(const Table& table) {
  const auto& columns = table.columns();
  const auto& rows = table.rows();
  std::vector<std::string> lines(rows.size() + 1);
  for (size_t k = 0; k < columns.size(); ++k) {
    size_t width = display_width(columns[k]);
    bool is_number = false;
    for (const auto& row : rows) {
      width = std::max(width, display_width(shown(row[k])));
      is_number = is_number || row[k].is_number();
    }
    const auto pad = is_number ? &pad_left : &pad_right;
    const std::string gap = k == 0 ? "" : "  ";
    lines[0] += gap + pad(columns[k], width);
    for (size_t i = 0; i < rows.size(); ++i) lines[i + 1] += gap + pad(shown(rows[i][k]), width);
  }
  std::string text;
  for (const std::string& line : lines)
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  return text;
}

std::string csv_text(const Table& table) {
  std::vector<std::string> fields;
  for (const std::string& column : table.columns()) fields.push_back(csv_field(column));
  std::string text = csv_line(fields) + "\n";
  for (const auto& row : table.rows()) {
    fields.clear();
    for (const Cell& cell : row) fields.push_back(csv_cell(cell));
    text += csv_line(fields) + "\n";
  }
  return text;
}

Json json_of(const Table& table) {
  Json objects = Json::array();
  for (const auto& row : table.rows()) {
    Json object = Json::object();
    for (size_t k = 0; k < row.size(); ++k) object.field(table.columns()[k], json_cell(row[k]));
    objects.add(object);
  }
  return objects;
}

}  // namespace flightdeck::cli

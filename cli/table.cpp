// SPDX-License-Identifier: MIT
#include "cli/table.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "cli/numbers.h"
#include "cli/terminal.h"
#include "src/base/csv.h"
#include "src/base/exact_text.h"
#include "src/record/text.h"

namespace flightdeck::cli {

Cell::Cell(std::string text)
    : is_number_(false), shown_(record::printable(text)), csv_(csv_field(text)), json_(text) {}

Cell::Cell(double number)
    : is_number_(true),
      shown_(short_number(number)),
      csv_(std::isfinite(number) ? exact_text(number) : shown_),
      json_(number) {}

Cell::Cell(int64_t number)
    : is_number_(true), shown_(std::to_string(number)), csv_(shown_), json_(number) {}

void Table::add(std::vector<Cell> row) {
  if (row.size() != columns_.size()) {
    throw std::logic_error("table: a row has " + std::to_string(row.size()) +
                           " cells but there are " + std::to_string(columns_.size()) + " columns");
  }
  rows_.push_back(std::move(row));
}

std::string Table::text() const {
  std::vector<std::string> lines(rows_.size() + 1);
  for (size_t k = 0; k < columns_.size(); ++k) {
    size_t width = display_width(columns_[k]);
    bool is_number = false;
    for (const auto& row : rows_) {
      width = std::max(width, display_width(row[k].shown()));
      is_number = is_number || row[k].is_number();
    }
    const auto pad = is_number ? &pad_left : &pad_right;
    const std::string gap = k == 0 ? "" : "  ";
    lines[0] += gap + pad(columns_[k], width);
    for (size_t i = 0; i < rows_.size(); ++i) lines[i + 1] += gap + pad(rows_[i][k].shown(), width);
  }
  std::string text;
  for (const std::string& line : lines)
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  return text;
}

std::string Table::csv() const {
  std::vector<std::string> fields;
  for (const std::string& column : columns_) fields.push_back(csv_field(column));
  std::string text = csv_line(fields) + "\n";
  for (const auto& row : rows_) {
    fields.clear();
    for (const Cell& cell : row) fields.push_back(cell.csv());
    text += csv_line(fields) + "\n";
  }
  return text;
}

Json Table::json() const {
  Json objects = Json::array();
  for (const auto& row : rows_) {
    Json object = Json::object();
    for (size_t k = 0; k < row.size(); ++k) object.field(columns_[k], row[k].json());
    objects.add(object);
  }
  return objects;
}

}  // namespace flightdeck::cli

// SPDX-License-Identifier: MIT
// A table of texts and numbers: for people, for programs, and as a file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/json.h"

namespace flightdeck::cli {

class Cell {
 public:
  Cell(const char* text) : Cell(std::string(text)) {}
  Cell(std::string text);
  Cell(double number);
  Cell(int64_t number);
  Cell(int number) : Cell(static_cast<int64_t>(number)) {}

  bool is_number() const { return is_number_; }
  const std::string& shown() const { return shown_; }  ///< numbers with four digits
  const std::string& csv() const { return csv_; }      ///< numbers with all; "nan", "-inf"
  const Json& json() const { return json_; }

 private:
  bool is_number_;
  std::string shown_, csv_;
  Json json_;
};

class Table {
 public:
  explicit Table(std::vector<std::string> columns) : columns_(std::move(columns)) {}

  /// As many cells as there are columns.
  void add(std::vector<Cell> row);
  size_t size() const { return rows_.size(); }

  /// Columns padded, numbers to the right.
  std::string text() const;
  /// With a line of column names.
  std::string csv() const;
  /// An array with one object per row.
  Json json() const;

 private:
  std::vector<std::string> columns_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace flightdeck::cli

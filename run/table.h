// SPDX-License-Identifier: MIT
// A table of texts and numbers: what experiments and reports are made of, whatever shows them.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace flightdeck::run {

class Cell {
 public:
  Cell(const char* text) : value_(std::string(text)) {}
  Cell(std::string text) : value_(std::move(text)) {}
  Cell(double number) : value_(number) {}
  Cell(int64_t number) : value_(number) {}
  Cell(int number) : value_(static_cast<int64_t>(number)) {}

  const std::variant<std::string, double, int64_t>& value() const { return value_; }
  bool is_number() const { return !std::holds_alternative<std::string>(value_); }

 private:
  std::variant<std::string, double, int64_t> value_;
};

class Table {
 public:
  explicit Table(std::vector<std::string> columns) : columns_(std::move(columns)) {}

  /// Adds a row of as many cells as there are columns; throws std::logic_error otherwise.
  void add(std::vector<Cell> row);

  size_t size() const { return rows_.size(); }
  const std::vector<std::string>& columns() const { return columns_; }
  const std::vector<std::vector<Cell>>& rows() const { return rows_; }

 private:
  std::vector<std::string> columns_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace flightdeck::run

// SPDX-License-Identifier: MIT
#include "run/table.h"

#include <stdexcept>

namespace flightdeck::run {

void Table::add(std::vector<Cell> row) {
  if (row.size() != columns_.size()) {
    throw std::logic_error("table: a row has " + std::to_string(row.size()) +
                           " cells but there are " + std::to_string(columns_.size()) + " columns");
  }
  rows_.push_back(std::move(row));
}

}  // namespace flightdeck::run

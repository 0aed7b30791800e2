// SPDX-License-Identifier: MIT
// Rows of several parameters of which the same is asked. On a GPU a few launches answer for all of
// them; what has no such kernel is answered one by one.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "rows/gpu_tables.h"
#include "rows/rows.h"

namespace flightdeck {

class RowsTogether {
 public:
  // Adds rows. Returns false if their answers are not worth waiting for others; they are not taken
  // then.
  bool add(size_t parameter, const Rows& rows, const Questions& questions);
  // Counts the memory that is held until they are answered: factors that nobody else may need.
  int64_t bytes() const { return bytes_; }

  struct Item {
    size_t parameter;
    Rows rows;
    TableRows factors;
    Questions questions;
    Answers answers;
    std::optional<TableSlope> slope;  // if dots are asked for and a table takes them
  };
  // Returns the items with their answers, in the order in which they came.
  std::vector<Item> answer();

 private:
  std::vector<Tensor> dots_of_each() const;

  std::vector<Item> items_;
  int64_t bytes_ = 0;
};

// Collects products with one direction for each parameter, of which the sum over all is wanted.
class SlopesTogether {
 public:
  bool add(const Rows& rows, const Questions& questions);
  // Returns [N, 1]; undefined if nothing was added.
  Tensor sum();

 private:
  std::vector<TableSlope> slopes_;
  std::vector<std::pair<Rows, Questions>> items_;
};

}  // namespace flightdeck

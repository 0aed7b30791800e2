// SPDX-License-Identifier: MIT
// Rows of several parameters of which the same is asked. On a GPU a few launches answer for all of
// them; what has no such kernel is answered one by one.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "rows/gpu_tables.h"
#include "rows/rows.h"

namespace flightdeck {

class RowsTogether {
 public:
  // False if the answers of these rows are not worth waiting for others; they are not taken then.
  bool add(size_t parameter, const Rows& rows, const Questions& questions);
  // The same for `dots` alone.
  bool add_for_dots(size_t parameter, const Rows& rows, const Questions& questions);

  // Memory that is held until they are answered: factors that nobody else may need.
  int64_t bytes() const { return bytes_; }

  struct Item {
    size_t parameter;
    Rows rows;
    TableRows factors;
    Questions questions;
    Answers answers;
  };
  // With their answers, in the order in which they came.
  std::vector<Item> answer();
  // <g_n, v> for one direction each, summed over all that were added, [N, 1]; undefined if nothing
  // was.
  Tensor dots();

 private:
  bool take(size_t parameter, const Rows& rows, const Questions& questions);

  std::vector<Item> items_;
  int64_t bytes_ = 0;
};

}  // namespace flightdeck

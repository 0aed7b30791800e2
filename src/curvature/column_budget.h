// SPDX-License-Identifier: MIT
// Limits how many columns the exact way may take. A column costs half a gradient or more, and
// sequences have one for every position and for every class but one.
#pragma once

#include <cstdint>
#include <string>

#include <c10/util/Exception.h>

namespace flightdeck {

class TooManyColumns final : public c10::ValueError {
 public:
  TooManyColumns(const c10::SourceLocation& location, int64_t count, const std::string& message)
      : c10::ValueError(location, message), columns(count) {}
  const int64_t columns;  // at least so many
};

class ColumnBudget {
 public:
  // A `most` of 0 sets no limit.
  explicit ColumnBudget(int64_t most) : most_(most) {}

  // Is called before so many columns are sent back. Throws TooManyColumns.
  void spend(int64_t columns) {
    spent_ += columns;
    if (most_ == 0 || spent_ <= most_) return;
    throw TooManyColumns({__func__, __FILE__, static_cast<uint32_t>(__LINE__)},
                         spent_,
                         "curvature: the exact matrix takes at least " + std::to_string(spent_) +
                             " columns, more than max_columns = " + std::to_string(most_) +
                             "; raise it, or ask for what is sampled");
  }

 private:
  int64_t most_, spent_ = 0;
};

}  // namespace flightdeck

// SPDX-License-Identifier: MIT
// What rows say about their scatter, summed up from their differences to the mean: the difference
// of two large sums of squares would leave nothing where the rows nearly agree.
#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>

namespace flightdeck {

using at::Tensor;

class CentredSums {
 public:
  CentredSums() = default;
  // Begins with zeros for `count` rows of these options.
  CentredSums(int64_t count, const at::TensorOptions& options);

  // Adds all rows in some of their entries: `rows` [N, E], `mean` [E]; adds sum_n (g_n - g)² of
  // these entries to `squares` [E] unless undefined. Rounding of the mean is made up for.
  void add(const Tensor& rows, const Tensor& mean, const Tensor& squares);

  // Adds rows first, first + 1, ... alone in the same way; the mean is that of all rows.
  void add_some(int64_t first, const Tensor& rows, const Tensor& mean, const Tensor& squares);

  Tensor deviations() const;                       // [N] double
  Tensor dots_with_sum(const Tensor& mean) const;  // [N] double; `mean` [...] in all entries

 private:
  Tensor deviations_;  // [N] double
  Tensor along_;       // [N] double: <g_n - g, g>
};

}  // namespace flightdeck

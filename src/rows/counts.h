// SPDX-License-Identifier: MIT
// Adds rows to the histograms that are asked of them: written out, a few at a time, or zero.
#pragma once

#include "rows/form.h"

namespace flightdeck {

/// The bin of each of a parameter's entries, both ends clamped: 0..count-1, or count for NaN. Joint
/// counts have that one column more, so that entries without a value need not be searched for.
Tensor value_bin_index(const Tensor& values, const Bins& bins);

/// Counts `rows` [n, ...]; the value bins of the questions are those of one row's entries.
void count_rows(const Tensor& rows, const Questions& questions, Answers& answers);

/// Counts all rows of the form, a few at a time.
void count_in_pieces(const Form& form, const Questions& questions, Answers& answers);

/// Counts `times` rows of `entries` zeros; a negative number takes them away again.
void count_zeros(int64_t times,
                 int64_t entries,
                 const at::TensorOptions& options,
                 const Questions& questions,
                 Answers& answers);

}  // namespace flightdeck

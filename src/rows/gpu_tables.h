// SPDX-License-Identifier: MIT
// Work on many tensors of a GPU in a launch or two, by the kernels of kernels/tables. Where those
// are not to be had, nothing is returned and the caller goes on without.
#pragma once

#include <optional>
#include <vector>

#include <ATen/core/Tensor.h>

#include "flightdeck/histogram.h"

namespace flightdeck {

using at::Tensor;

// Rows g_n = a_n b_nᵀ, or b_n where a is undefined; a [N, I], b [N, J], float32 on one CUDA device.
struct TableRows {
  Tensor a, b;
};

// True if these kernels take the tensor.
bool fits_tables(const Tensor& tensor);

// Per list of rows, in double but for the norms.
struct TableScatter {
  Tensor dots;          // [P, N]: <g_n, g> with g = sum_n g_n times share
  Tensor deviations;    // [P, N]: ||g_n - mean||²
  Tensor norms;         // [P, N] float
  Tensor squared_mean;  // [P]: mean over n of the dots
};
std::optional<TableScatter> scatter_by_table(const std::vector<TableRows>& rows, double share);

// <a_n, b_n> of lists of lines with the same number of entries each, [P, N] float. a may be one
// line [1, J] for all samples.
std::optional<Tensor> dots_by_table(const std::vector<TableRows>& lines);

// Raw counts [P, bins + 3] of the entries of all rows: below, the bins, above, NaN.
std::optional<Tensor> counts_by_table(const std::vector<TableRows>& rows, const Bins& bins);

// Of pairs of tensors x and y with the same entries in the same order.
struct TablePair {
  Tensor x, y;        // y undefined: zeros
  Tensor difference;  // filled with x - y if defined
  Tensor copy;        // filled with x if defined; may be y
};
struct TableSums {
  Tensor squares;  // [P]: sum of (x - y)², in double
  Tensor before;   // [P]: sum of y²
};
std::optional<TableSums> sums_by_table(const std::vector<TablePair>& pairs);
// The same of two lists; nothing if the kernels do not take one of the tensors.
std::optional<TableSums> sums_by_table(const std::vector<Tensor>& x, const std::vector<Tensor>& y);

// True if both have the same entries in the same order of memory, and the kernels take them.
bool fit_tables(const Tensor& x, const Tensor& y);

// All entries of the tensors, one after the other, as doubles [n]. They are on one CUDA device.
std::optional<Tensor> packed_by_table(const std::vector<const Tensor*>& tensors);

}  // namespace flightdeck

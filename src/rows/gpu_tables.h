// SPDX-License-Identifier: MIT
// Work on many tensors of a GPU in a launch or two, by the kernels of kernels/tables. Where those
// are not to be had, nothing is returned and the caller goes on without.
#pragma once

#include <optional>
#include <vector>

#include <ATen/core/Tensor.h>

#include "flightdeck/histogram.h"
#include "flightdeck/layout.h"

namespace flightdeck {

using at::Tensor;

// Returns true if the environment's FLIGHTDECK_ISA is gpu_reference. The CPU is then treated as a
// GPU is, and the kernels are their plain loops: what is done for a GPU is tested without one.
bool cpu_plays_gpu();
// Returns true where a launch costs more than what is done to a hundred numbers and the host runs
// ahead: layers go together, and nobody waits for a number.
bool runs_behind(const at::Device& device);
inline bool runs_behind(const Tensor& tensor) { return runs_behind(tensor.device()); }

// Holds rows g_n = a_n b_nᵀ, or b_n where a is undefined; a [N, I], b [N, J] or with one
// position, [N, 1, I], float32 on one device.
struct TableRows {
  Tensor a, b;
};

// Returns true if these kernels take the tensor.
bool fits_tables(const Tensor& tensor);

// Holds results per list of rows, in double but for the norms.
struct TableScatter {
  Tensor dots;          // [P, N]: <g_n, g> with g = sum_n g_n times share
  Tensor deviations;    // [P, N]: ||g_n - mean||²
  Tensor norms;         // [P, N] float
  Tensor squared_mean;  // [P]: mean over n of the dots
};
std::optional<TableScatter> scatter_by_table(const std::vector<TableRows>& rows, double share);

// Holds rows sum_t a_nt b_ntᵀ, a [N, T, I] or undefined, b [N, T, J], or without T, and a
// direction for them whose entry [i, j] is u[i * u_i + j * u_j].
struct TableSlope {
  Tensor a, b, u;
  int64_t u_i, u_j;
};
// Returns true if the kernel is not slower than a product by LibTorch, whose launches it saves.
bool slopes_pay(const TableSlope& slope);
// Computes <g_n, u>, [P, N] float. All rows are of the same samples.
std::optional<Tensor> slopes_by_table(const std::vector<TableSlope>& slopes);

// Describes one sum, or root of a sum of squares, of tensors of one shape and type.
struct TableSum {
  std::vector<Tensor> parts;
  bool is_root = false;
};
// Returns true if the sums can be taken together: small parts of float, double or int64 that fit a
// table.
bool fits_sums(const Tensor& part);
std::optional<std::vector<Tensor>> add_up_by_table(const std::vector<TableSum>& sums);

// Returns raw counts [P, bins + 3] of the entries of all rows: below, the bins, above, NaN.
std::optional<Tensor> counts_by_table(const std::vector<TableRows>& rows, const Bins& bins);

// Holds a pair of tensors x and y with the same entries in the same order.
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
// Takes the pairs from two lists; returns nothing if the kernels do not take one of the tensors.
std::optional<TableSums> sums_by_table(const std::vector<Tensor>& x, const std::vector<Tensor>& y);

// Returns true if both have the same entries in the same order of memory, and the kernels take
// them.
bool fit_tables(const Tensor& x, const Tensor& y);

// Returns all entries of the tensors, one after the other, as doubles [n]. They are on one device.
std::optional<Tensor> packed_by_table(const std::vector<const Tensor*>& tensors);

// Returns what is told of a tensor's entries [kEntryNumbers], in double, on its device
// (kernels/tables/tables.h has the order). Which sample is the first is known where `layout` says
// whose the entries are.
std::optional<Tensor> entry_numbers_by_table(const Tensor& values,
                                             double tiny,
                                             double huge,
                                             const Layout& layout = {});

// Returns true if each entry of the values belongs to one sample of the layout.
bool has_samples(const Tensor& values, const Layout& layout);

}  // namespace flightdeck

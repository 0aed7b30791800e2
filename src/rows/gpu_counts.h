// SPDX-License-Identifier: MIT
// Counting on a GPU: gpu_counts.cpp, or no_gpu_counts.cpp in a build without CUDA.
#pragma once

#include <ATen/core/Tensor.h>

#include "flightdeck/histogram.h"

namespace flightdeck {

using at::Tensor;

// Returns true if there are kernels for such values and that many counts.
bool has_gpu_kernel(const Tensor& values, int64_t counts);

// These count like the functions of histogram.h, for tensors with a kernel. Nobody waits for the
// device.
Tensor gpu_count_into_bins(const Tensor& values, const Bins& bins);
Tensor gpu_count_outer_into_bins(const Tensor& a, const Tensor& b, const Bins& bins);
Tensor gpu_count_into_joint_bins(const Tensor& rows,
                                 const Bins& bins,
                                 const Tensor& value_bin,
                                 int64_t value_bins);
Tensor gpu_count_outer_into_joint_bins(const Tensor& a,
                                       const Tensor& b,
                                       const Tensor& value_bin,
                                       const Bins& bins,
                                       int64_t value_bins);

}  // namespace flightdeck

// SPDX-License-Identifier: MIT
#include "rows/gpu_counts.h"

#include <ATen/ATen.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>

#include "kernels/counting/gpu.h"
#include "rows/histogram_bins.h"

namespace flightdeck {
namespace {

// Runs `launch(stream, counts)` on the device of `values` and returns zeros of that shape, counted
// into.
template <typename Launch>
Tensor counted(const Tensor& values, at::IntArrayRef shape, const Launch& launch) {
  const c10::cuda::CUDAGuard guard(values.device());
  Tensor counts = at::zeros(shape, values.options().dtype(at::kLong));
  if (values.numel() == 0) return counts;
  launch(at::cuda::getCurrentCUDAStream().stream(), counts.data_ptr<int64_t>());
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return counts;
}

}  // namespace

bool has_gpu_kernel(const Tensor& values, int64_t counts) {
  return values.is_cuda() && counts <= kernels::kGpuBins &&
         (values.scalar_type() == at::kFloat || values.scalar_type() == at::kDouble);
}

Tensor gpu_count_into_bins(const Tensor& values, const Bins& bins) {
  const Tensor x = values.contiguous();
  return counted(x, {bins.count + 3}, [&](void* stream, int64_t* counts) {
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "gpu_count", [&] {
      kernels::gpu_count(
          x.data_ptr<scalar_t>(), x.numel(), equal_bins<scalar_t>(bins), counts, stream);
    });
  });
}

Tensor gpu_count_outer_into_bins(const Tensor& a, const Tensor& b, const Bins& bins) {
  const Tensor left = a.contiguous(), right = b.contiguous();
  return counted(left, {bins.count + 3}, [&](void* stream, int64_t* counts) {
    AT_DISPATCH_FLOATING_TYPES(left.scalar_type(), "gpu_count_outer", [&] {
      kernels::gpu_count_outer(left.data_ptr<scalar_t>(),
                               right.data_ptr<scalar_t>(),
                               left.size(0),
                               left.size(1),
                               right.size(1),
                               equal_bins<scalar_t>(bins),
                               counts,
                               stream);
    });
  });
}

Tensor gpu_count_into_joint_bins(const Tensor& rows,
                                 const Bins& bins,
                                 const Tensor& value_bin,
                                 int64_t value_bins) {
  const Tensor x = rows.contiguous(), values = value_bin.to(at::kInt).contiguous();
  return counted(x, {bins.count, value_bins}, [&](void* stream, int64_t* counts) {
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "gpu_count_joint", [&] {
      kernels::gpu_count_joint(x.data_ptr<scalar_t>(),
                               x.size(0),
                               x.size(1),
                               values.data_ptr<int32_t>(),
                               value_bins,
                               equal_bins<scalar_t>(bins),
                               counts,
                               stream);
    });
  });
}

Tensor gpu_count_outer_into_joint_bins(const Tensor& a,
                                       const Tensor& b,
                                       const Tensor& value_bin,
                                       const Bins& bins,
                                       int64_t value_bins) {
  const Tensor left = a.contiguous(), right = b.contiguous();
  const Tensor values = value_bin.to(at::kInt).contiguous();
  return counted(left, {bins.count, value_bins}, [&](void* stream, int64_t* counts) {
    AT_DISPATCH_FLOATING_TYPES(left.scalar_type(), "gpu_count_outer_joint", [&] {
      kernels::gpu_count_outer_joint(left.data_ptr<scalar_t>(),
                                     right.data_ptr<scalar_t>(),
                                     left.size(0),
                                     left.size(1),
                                     right.size(1),
                                     values.data_ptr<int32_t>(),
                                     value_bins,
                                     equal_bins<scalar_t>(bins),
                                     counts,
                                     stream);
    });
  });
}

}  // namespace flightdeck

// SPDX-License-Identifier: MIT
#include "rows/gpu_counts.h"

namespace flightdeck {
namespace {

[[noreturn]] Tensor none() { TORCH_INTERNAL_ASSERT(false, "this build has no GPU kernels"); }

}  // namespace

bool has_gpu_kernel(const Tensor&, int64_t) { return false; }
Tensor gpu_count_into_bins(const Tensor&, const Bins&) { none(); }
Tensor gpu_count_outer_into_bins(const Tensor&, const Tensor&, const Bins&) { none(); }
Tensor gpu_count_into_joint_bins(const Tensor&, const Bins&, const Tensor&, int64_t) { none(); }
Tensor gpu_count_outer_into_joint_bins(
    const Tensor&, const Tensor&, const Tensor&, const Bins&, int64_t) {
  none();
}

}  // namespace flightdeck

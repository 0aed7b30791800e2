// SPDX-License-Identifier: MIT
#include "quantities/class_counts.h"

#include <limits>

#include <ATen/ATen.h>

namespace flightdeck {

ClassCounts count_classes(const Tensor& classes, const Tensor& is_counted) {
  constexpr int64_t kNone = std::numeric_limits<int64_t>::max();  // sorts behind all classes
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  Tensor all = classes.flatten().to(at::kLong);
  if (is_counted.defined()) all = at::where(is_counted.flatten(), all, at::full_like(all, kNone));
  const auto doubles = all.options().dtype(at::kDouble);
  if (all.numel() == 0) {
    const Tensor none = at::full({}, kNan, doubles), zero = at::zeros({}, doubles);
    return {none, none, zero, none, zero};
  }
  const Tensor sorted = std::get<0>(all.sort());
  const Tensor counts = sorted != kNone;
  const Tensor counted = counts.sum().to(at::kDouble);
  const Tensor last = (counted - 1).clamp_min(0).to(at::kLong).reshape({1});
  const Tensor begin = at::searchsorted(sorted, sorted);
  const Tensor end = at::searchsorted(sorted, sorted, /*out_int32=*/false, /*right=*/true);
  const Tensor runs = at::where(counts, end - begin, at::zeros_like(end)).to(at::kDouble);
  const Tensor places = at::arange(sorted.numel(), sorted.options());
  const Tensor distinct = (begin == places).logical_and_(counts).sum().to(at::kDouble);
  const Tensor nan = at::full({}, kNan, doubles);
  const auto known = [&](const Tensor& value) { return at::where(counted > 0, value, nan); };
  return {known(sorted[0].to(at::kDouble)),
          known(sorted.index_select(0, last)[0].to(at::kDouble)),
          distinct,
          known(runs.max() / counted),
          counted};
}

}  // namespace flightdeck

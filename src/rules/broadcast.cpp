// SPDX-License-Identifier: MIT
#include "rules/broadcast.h"

#include <ATen/ATen.h>

#include "rows/dense.h"

namespace flightdeck {

Rows broadcast_rows(const Tensor& contribution,
                    const Layout& layout,
                    const Shape& input,
                    const char* name) {
  const auto rank = contribution.dim();
  const int64_t shift = rank - static_cast<int64_t>(input.size());
  // The split view is [N, before..., outer, inner, after...]: output dimension d < dim sits at d +
  // 1, d > dim at d + 2.
  const bool leads = layout.dim == 0 && !layout.is_scattered() && layout.length() == layout.N;
  const bool is_whole =
      static_cast<int64_t>(input.size()) == rank - 1 && contribution.sizes().slice(1).equals(input);
  if (leads && is_whole) {  // nothing to add up
    return Rows(std::make_shared<DenseForm>(in_row_precision(contribution).contiguous(), name));
  }
  Tensor split = in_row_precision(samples_first(contribution, layout));
  Shape summed{layout.dim + 1, layout.dim + 2};
  for (int64_t d = 0; d < rank; ++d) {
    if (d == layout.dim) continue;
    const bool is_broadcast = d < shift || input[d - shift] != contribution.size(d);
    if (is_broadcast) summed.push_back(d < layout.dim ? d + 1 : d + 2);
  }
  Shape sizes{layout.N};
  sizes.insert(sizes.end(), input.begin(), input.end());
  return Rows(std::make_shared<DenseForm>(split.sum(summed).reshape(sizes), name));
}

Rows channel_rows(const Tensor& contribution, const Layout& layout, const char* name) {
  Shape aligned(contribution.dim() - 1, 1);
  aligned[0] = contribution.size(1);
  Rows rows = broadcast_rows(contribution, layout, aligned, name);
  rows.terms().front().placement.undo_reshape({aligned[0]});
  return rows;
}

}  // namespace flightdeck

// SPDX-License-Identifier: MIT
#include "quantities/group_sums.h"

#include <ATen/ATen.h>

namespace flightdeck {

Tensor sum_by_group(const std::vector<Tensor>& per_parameter, const Groups& groups) {
  TORCH_CHECK(per_parameter.size() == groups.members[0].size(),
              "group_sums: ",
              per_parameter.size(),
              " tensors for ",
              groups.members[0].size(),
              " parameters; give one for each");
  return sum_stacked_by_group(at::stack(per_parameter).to(at::kDouble), groups);
}

Tensor sum_stacked_by_group(const Tensor& all, const Groups& groups) {
  if (groups.size() == 1) return all.sum(0, /*keepdim=*/true);
  // Sums by index, not by a product with a 0/1 matrix: NaN of one group must not reach the others.
  std::vector<int64_t> member, group;
  for (size_t g = 0; g < groups.size(); ++g) {
    for (size_t p : groups.members[g]) {
      member.push_back(static_cast<int64_t>(p));
      group.push_back(static_cast<int64_t>(g));
    }
  }
  std::vector<int64_t> sizes = all.sizes().vec();
  sizes[0] = static_cast<int64_t>(groups.size());
  return at::zeros(sizes, all.options())
      .index_add_(0,
                  at::tensor(group, at::kLong).to(all.device()),
                  all.index_select(0, at::tensor(member, at::kLong).to(all.device())));
}

}  // namespace flightdeck

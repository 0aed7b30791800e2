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

namespace {

// Which parameter goes to which group, on a device. What was asked for last is kept: it is the same
// at every step, and a copy to a device waits.
struct Index {
  std::vector<int64_t> member, group;
  Tensor member_there, group_there;

  void move_to(const at::Device& device) {
    member_there = at::tensor(member, at::kLong).to(device);
    group_there = at::tensor(group, at::kLong).to(device);
  }
};

const Index& index_on(const at::Device& device, const Groups& groups) {
  thread_local Index last;
  Index wanted;
  for (size_t g = 0; g < groups.size(); ++g) {
    for (size_t p : groups.members[g]) {
      wanted.member.push_back(static_cast<int64_t>(p));
      wanted.group.push_back(static_cast<int64_t>(g));
    }
  }
  const bool is_same = last.member_there.defined() && last.member_there.device() == device &&
                       last.member == wanted.member && last.group == wanted.group;
  if (!is_same) {
    wanted.move_to(device);
    last = std::move(wanted);
  }
  return last;
}

}  // namespace

Tensor sum_stacked_by_group(const Tensor& all, const Groups& groups) {
  if (groups.size() == 1) return all.sum(0, /*keepdim=*/true);
  // Sums by index, not by a product with a 0/1 matrix: NaN of one group must not reach the others.
  const Index& index = index_on(all.device(), groups);
  std::vector<int64_t> sizes = all.sizes().vec();
  sizes[0] = static_cast<int64_t>(groups.size());
  return at::zeros(sizes, all.options())
      .index_add_(0, index.group_there, all.index_select(0, index.member_there));
}

}  // namespace flightdeck

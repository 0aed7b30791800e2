// SPDX-License-Identifier: MIT
#include "quantities/group_sums.h"

#include <algorithm>

#include <ATen/ATen.h>

namespace flightdeck {
namespace {

// On the CPU a few thousand numbers are added up in less time than an operation takes to begin.

bool is_list_here(const Tensor& tensor) {
  const auto type = tensor.scalar_type();
  return tensor.is_cpu() && tensor.is_contiguous() &&
         (type == at::kDouble || type == at::kFloat || type == at::kLong);
}

template <typename From>
void add_list(const Tensor& from, double* to) {
  const auto* values = from.data_ptr<From>();
  for (int64_t k = 0; k < from.numel(); ++k) to[k] += static_cast<double>(values[k]);
}

void add_to(double* to, const Tensor& list) {
  switch (list.scalar_type()) {
    case at::kDouble:
      return add_list<double>(list, to);
    case at::kFloat:
      return add_list<float>(list, to);
    default:
      return add_list<int64_t>(list, to);
  }
}

// Returns [G, *sizes], all zero.
Tensor zero_sums(const Groups& groups, at::IntArrayRef sizes) {
  std::vector<int64_t> all = sizes.vec();
  all.insert(all.begin(), static_cast<int64_t>(groups.size()));
  const Tensor sums = at::empty(all, at::kDouble);
  std::fill_n(sums.data_ptr<double>(), sums.numel(), 0.0);
  return sums;
}

}  // namespace

Tensor sum_by_group(const std::vector<Tensor>& per_parameter, const Groups& groups) {
  TORCH_CHECK(per_parameter.size() == groups.members[0].size(),
              "group_sums: ",
              per_parameter.size(),
              " tensors for ",
              groups.members[0].size(),
              " parameters; give one for each");
  const bool is_here = std::all_of(per_parameter.begin(), per_parameter.end(), is_list_here);
  if (!is_here) return sum_stacked_by_group(at::stack(per_parameter).to(at::kDouble), groups);
  const Tensor sums = zero_sums(groups, per_parameter[0].sizes());
  const int64_t size = per_parameter[0].numel();
  double* to = sums.data_ptr<double>();
  for (const std::vector<size_t>& members : groups.members) {
    for (size_t p : members) {
      TORCH_CHECK(per_parameter[p].numel() == size,
                  "group_sums: the tensor of parameter ",
                  p,
                  " has ",
                  per_parameter[p].numel(),
                  " numbers and the first one ",
                  size,
                  "; give tensors of one shape");
      add_to(to, per_parameter[p]);
    }
    to += size;
  }
  return sums;
}

namespace {

// Tells which parameter goes to which group, on a device. What was asked for last is kept: it is
// the same at every step, and a copy to a device waits.
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
  if (is_list_here(all) && all.scalar_type() == at::kDouble) {
    const Tensor sums = zero_sums(groups, all.sizes().slice(1));
    const int64_t size = all.size(0) == 0 ? 0 : all.numel() / all.size(0);
    double* to = sums.data_ptr<double>();
    for (const std::vector<size_t>& members : groups.members) {
      for (size_t p : members) {
        const double* from = all.data_ptr<double>() + static_cast<int64_t>(p) * size;
        for (int64_t k = 0; k < size; ++k) to[k] += from[k];
      }
      to += size;
    }
    return sums;
  }
  if (groups.size() == 1) return all.sum(0, /*keepdim=*/true);
  // Sums by index, not by a product with a 0/1 matrix: NaN of one group must not reach the others.
  const Index& index = index_on(all.device(), groups);
  std::vector<int64_t> sizes = all.sizes().vec();
  sizes[0] = static_cast<int64_t>(groups.size());
  return at::zeros(sizes, all.options())
      .index_add_(0, index.group_there, all.index_select(0, index.member_there));
}

Tensor squares_of(const std::vector<Tensor>& numbers) {
  const bool is_here = std::all_of(numbers.begin(), numbers.end(), [](const Tensor& one) {
    return one.is_cpu() && one.scalar_type() == at::kDouble;
  });
  if (!is_here) return at::stack(numbers).to(at::kDouble).square();
  const Tensor squares = at::empty({static_cast<int64_t>(numbers.size())}, at::kDouble);
  auto* next = squares.data_ptr<double>();
  for (const Tensor& one : numbers) {
    const double norm = *one.data_ptr<double>();
    *next++ = norm * norm;
  }
  return squares;
}

}  // namespace flightdeck

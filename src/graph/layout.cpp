// SPDX-License-Identifier: MIT
#include "graph/layout.h"

#include <algorithm>

#include <ATen/ATen.h>

namespace flightdeck {
namespace {

using Owners = std::vector<int64_t>;

constexpr int64_t kNobody = -1;

int64_t owner_at(const Layout& layout, int64_t position) {
  return layout.owners ? (*layout.owners)[position] : position / layout.inner % layout.N;
}

// Adds what is known of an entry; returns false if that contradicts what was known before.
bool add_owner(int64_t& owner, int64_t other) {
  if (other == kNobody) return true;
  if (owner != kNobody && owner != other) return false;
  owner = other;
  return true;
}

// Describes the samples as a digit of the index, if their order is that of one; positions of nobody
// fit everywhere. Unknown if it is not.
Layout as_digit(const Layout& layout) {
  const int64_t length = layout.length();
  if (length == 0 || length % layout.N != 0) return Layout::unknown();
  const int64_t per_sample = length / layout.N;
  for (int64_t outer = 1; outer <= per_sample; ++outer) {
    if (per_sample % outer != 0) continue;
    const Layout digit = Layout::batch(layout.N, layout.dim, outer, per_sample / outer);
    bool fits = true;
    for (int64_t k = 0; k < length && fits; ++k) {
      const int64_t owner = (*layout.owners)[k];
      fits = owner == kNobody || owner == owner_at(digit, k);
    }
    if (fits) return digit;
  }
  return Layout::unknown();
}

bool is_complete(const Layout& layout) {
  return std::find(layout.owners->begin(), layout.owners->end(), kNobody) == layout.owners->end();
}

// Returns owners along a dimension of `size` entries, `right` to the right of it, of a tensor whose
// owners had `right_before` to the right of them; empty if that dimension alone does not tell them.
Owners reshaped_owners(const Owners& owners, int64_t right_before, int64_t size, int64_t right) {
  const auto length = static_cast<int64_t>(owners.size());
  const bool is_split = right >= right_before;
  const int64_t more = std::max(right, right_before), less = std::min(right, right_before);
  if (less == 0 || more % less != 0) return {};
  const int64_t ratio = more / less;
  // The owners of the new dimension repeat with this period.
  Owners period;
  if (is_split) {
    if (length % ratio != 0) return {};
    period.assign(length / ratio, kNobody);
    for (int64_t k = 0; k < length; ++k) {
      if (!add_owner(period[k / ratio], owners[k])) return {};
    }
  } else {
    for (int64_t owner : owners) period.insert(period.end(), ratio, owner);
  }
  if (period.empty() || size % static_cast<int64_t>(period.size()) != 0) return {};
  Owners reshaped;
  while (static_cast<int64_t>(reshaped.size()) < size) {
    reshaped.insert(reshaped.end(), period.begin(), period.end());
  }
  return reshaped;
}

Layout reshape_scattered(const Layout& layout, const Shape& from, const Shape& to) {
  int64_t right_before = 1;
  for (size_t k = layout.dim + 1; k < from.size(); ++k) right_before *= from[k];
  Layout found = Layout::unknown();
  int64_t right = 1;
  for (int64_t dim = static_cast<int64_t>(to.size()) - 1; dim >= 0; --dim) {
    if (right == right_before && to[dim] == layout.length()) return layout.at_dim(dim);
    Owners owners = reshaped_owners(*layout.owners, right_before, to[dim], right);
    if (!owners.empty() && !found.is_batch()) {
      found = Layout::scattered(layout.N, dim, std::move(owners));
    }
    right *= to[dim];
  }
  if (found.is_batch()) return found;
  const Layout digit = as_digit(layout);
  return digit.is_batch() ? reshape_layout(digit, from, to) : digit;
}

// Says where each position along the dimension goes if the positions of a sample are put side by
// side.
Tensor slots_of(const Layout& layout, at::Device device) {
  std::vector<int64_t> slots, next(layout.N, 0);
  for (int64_t owner : *layout.owners) {
    // Positions of nobody share a slot behind all others.
    slots.push_back(owner == kNobody ? layout.N * layout.inner
                                     : owner * layout.inner + next[owner]++);
  }
  return at::tensor(slots, at::kLong).to(device);
}

}  // namespace

Layout Layout::scattered(int64_t N, int64_t dim, std::vector<int64_t> owners) {
  std::vector<int64_t> counts(N, 0);
  for (int64_t owner : owners) {
    TORCH_INTERNAL_ASSERT(owner >= kNobody && owner < N);
    if (owner != kNobody) ++counts[owner];
  }
  int64_t most = 1;  // also of no samples at all
  for (int64_t count : counts) most = std::max(most, count);
  Layout layout = batch(N, dim, 1, most);
  layout.owners = std::make_shared<const Owners>(std::move(owners));
  return layout;
}

Layout written_layout(const Layout& out, const Tensor& places) {
  if (!out.is_batch()) return out;
  const Tensor listed = places.reshape({-1}).to(at::kCPU, at::kLong).contiguous();
  const int64_t* place = listed.data_ptr<int64_t>();
  const int64_t size = out.length();
  Owners owners;
  for (int64_t k = 0; k < listed.numel(); ++k) {
    owners.push_back(owner_at(out, place[k] < 0 ? place[k] + size : place[k]));
  }
  return Layout::scattered(out.N, out.dim, std::move(owners));
}

Layout read_layout(const Layout& out, const Tensor& places, int64_t size) {
  if (!out.is_batch()) return out;
  const Tensor listed = places.reshape({-1}).to(at::kCPU, at::kLong).contiguous();
  const int64_t* place = listed.data_ptr<int64_t>();
  Owners owners(size, kNobody);
  for (int64_t k = 0; k < listed.numel(); ++k) {
    int64_t& owner = owners[place[k] < 0 ? place[k] + size : place[k]];
    if (!add_owner(owner, owner_at(out, k))) return Layout::unknown();
  }
  return Layout::scattered(out.N, out.dim, std::move(owners));
}

Layout agreed_layout(const Layout& first, const Layout& second) {
  if (first == second) return first;
  const bool can = first.is_batch() && second.is_batch() && first.dim == second.dim &&
                   first.length() == second.length();
  if (!can || !(first.is_scattered() || second.is_scattered())) return Layout::unknown();
  Owners owners(first.length(), kNobody);
  for (int64_t k = 0; k < first.length(); ++k) {
    add_owner(owners[k], owner_at(first, k));
    if (!add_owner(owners[k], owner_at(second, k))) return Layout::unknown();
  }
  if (!first.is_scattered()) return first;
  if (!second.is_scattered()) return second;
  const Layout together = Layout::scattered(first.N, first.dim, std::move(owners));
  const Layout digit = is_complete(together) ? as_digit(together) : Layout::unknown();
  return digit.is_batch() ? digit : together;
}

Layout reshape_layout(const Layout& layout, const Shape& from, const Shape& to) {
  if (!layout.is_batch()) return layout;
  if (layout.is_scattered()) return reshape_scattered(layout, from, to);
  // In the flat index the samples are a digit with `right` entries to its right.
  int64_t right = layout.inner;
  for (size_t k = layout.dim + 1; k < from.size(); ++k) right *= from[k];
  int64_t right_of_dim = 1;
  Layout found = Layout::unknown();
  for (int64_t dim = static_cast<int64_t>(to.size()) - 1; dim >= 0; --dim) {
    const int64_t left = right_of_dim * to[dim];
    const bool starts_here = right_of_dim != 0 && right % right_of_dim == 0;
    const bool ends_here = right * layout.N != 0 && left % (right * layout.N) == 0;
    if (starts_here && ends_here) {
      const int64_t inner = right / right_of_dim;
      const Layout here = Layout::batch(layout.N, dim, to[dim] / (layout.N * inner), inner);
      // With N = 1 several dimensions qualify: a dimension of its own is the natural one.
      const bool is_own = here.outer == 1 && here.inner == 1;
      if (!found.is_batch() || (is_own && (found.inner != 1 || dim == layout.dim))) found = here;
    }
    right_of_dim = left;
  }
  return found;
}

Layout broadcast_layout(const Layout& layout, const Shape& output, const Shape& input) {
  if (!layout.is_batch()) return layout;
  const int64_t shift = static_cast<int64_t>(output.size()) - static_cast<int64_t>(input.size());
  const int64_t dim = layout.dim - shift;
  if (dim < 0 || input[dim] != output[layout.dim]) return Layout::free();
  return layout.at_dim(dim);
}

Layout leading_layout(int64_t N, const Shape& input, const std::string& op) {
  TORCH_CHECK(!input.empty() && input[0] % N == 0,
              "gradients: ",
              op,
              ": batch_size is ",
              N,
              " but the reduced tensor has shape ",
              to_string(input),
              ", whose leading dimension it does not divide; pass the batch size the loss was "
              "reduced from, or hand over the individual losses [N]");
  return Layout::batch(N, 0, 1, input[0] / N);
}

Tensor samples_first(const Tensor& tensor, const Layout& layout) {
  TORCH_INTERNAL_ASSERT(layout.is_batch() && layout.dim < tensor.dim());
  Shape sizes = tensor.sizes().vec();
  TORCH_INTERNAL_ASSERT(sizes[layout.dim] == layout.length());
  if (layout.is_scattered()) {
    const Tensor lines = tensor.movedim(layout.dim, 0);
    sizes = lines.sizes().vec();
    const int64_t slots = layout.N * layout.inner;
    sizes[0] = slots + 1;
    const Tensor filled = at::zeros(sizes, tensor.options())
                              .index_copy_(0, slots_of(layout, tensor.device()), lines)
                              .slice(0, 0, slots);
    // [N, inner, before..., after...]
    const Tensor split = filled.unflatten(0, {layout.N, layout.inner});
    return split.movedim(1, layout.dim + 1).unsqueeze(layout.dim + 1);
  }
  sizes[layout.dim] = layout.outer;
  sizes.insert(sizes.begin() + layout.dim + 1, {layout.N, layout.inner});
  // Splitting one dimension is always a view.
  return tensor.view(sizes).movedim(layout.dim + 1, 0);
}

Tensor positions_and_features(const Tensor& tensor, const Layout& layout) {
  // If the samples are in front already, one reshape takes the place of three operations.
  const bool leads = layout.dim == 0 && layout.outer == 1 && !layout.is_scattered();
  if (leads) return tensor.reshape({layout.N, -1, tensor.size(-1)});
  return samples_first(tensor, layout).reshape({layout.N, -1, tensor.size(-1)});
}

namespace {

// Shapes a [N] vector so that it broadcasts against the split view of `tensor`.
Tensor along_samples(const Tensor& scale, const Tensor& tensor, const Layout& layout) {
  Shape sizes(tensor.dim() + 2, 1);
  sizes[layout.dim + 1] = layout.N;
  return scale.view(sizes);
}

// Shapes a vector over the entries of the samples' dimension so that it broadcasts.
Tensor along_dim(const Tensor& entries, const Tensor& tensor, const Layout& layout) {
  Shape sizes(tensor.dim(), 1);
  sizes[layout.dim] = entries.size(0);
  return entries.view(sizes);
}

Shape split_sizes(const Tensor& tensor, const Layout& layout) {
  Shape sizes = tensor.sizes().vec();
  sizes[layout.dim] = layout.outer;
  sizes.insert(sizes.begin() + layout.dim + 1, {layout.N, layout.inner});
  return sizes;
}

}  // namespace

Tensor scale_samples(const Tensor& tensor, const Layout& layout, const Tensor& scale) {
  if (layout.is_scattered()) {
    const Tensor owners = at::tensor(*layout.owners, at::kLong).clamp_min_(0);
    const Tensor factors = scale.index_select(0, owners.to(scale.device()));
    return tensor.mul(along_dim(factors.to(tensor.scalar_type()), tensor, layout));
  }
  const Tensor split = tensor.view(split_sizes(tensor, layout));
  return split.mul(along_samples(scale.to(tensor.scalar_type()), tensor, layout))
      .view(tensor.sizes());
}

Tensor only_sample(const Tensor& tensor, const Layout& layout, int64_t n) {
  if (layout.is_scattered()) {
    const Tensor is_own = at::tensor(*layout.owners, at::kLong).eq(n).to(tensor.device());
    return at::where(along_dim(is_own, tensor, layout), tensor, at::zeros({}, tensor.options()));
  }
  Tensor kept = at::zeros(tensor.sizes(), tensor.options());
  const Shape sizes = split_sizes(tensor, layout);
  kept.view(sizes).select(layout.dim + 1, n).copy_(tensor.view(sizes).select(layout.dim + 1, n));
  return kept;
}

}  // namespace flightdeck

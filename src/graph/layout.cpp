// SPDX-License-Identifier: MIT
#include "graph/layout.h"

#include <ATen/ATen.h>

namespace flightdeck {

Layout reshape_layout(const Layout& layout, const Shape& from, const Shape& to) {
  if (!layout.is_batch()) return layout;
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
  TORCH_INTERNAL_ASSERT(sizes[layout.dim] == layout.outer * layout.N * layout.inner);
  sizes[layout.dim] = layout.outer;
  sizes.insert(sizes.begin() + layout.dim + 1, {layout.N, layout.inner});
  // Splitting one dimension is always a view.
  return tensor.view(sizes).movedim(layout.dim + 1, 0);
}

Tensor positions_and_features(const Tensor& tensor, const Layout& layout) {
  return samples_first(tensor, layout).reshape({layout.N, -1, tensor.size(-1)});
}

namespace {

// A [N] vector shaped so that it broadcasts against the split view of `tensor`.
Tensor along_samples(const Tensor& scale, const Tensor& tensor, const Layout& layout) {
  Shape sizes(tensor.dim() + 2, 1);
  sizes[layout.dim + 1] = layout.N;
  return scale.view(sizes);
}

Shape split_sizes(const Tensor& tensor, const Layout& layout) {
  Shape sizes = tensor.sizes().vec();
  sizes[layout.dim] = layout.outer;
  sizes.insert(sizes.begin() + layout.dim + 1, {layout.N, layout.inner});
  return sizes;
}

}  // namespace

Tensor scale_samples(const Tensor& tensor, const Layout& layout, const Tensor& scale) {
  const Tensor split = tensor.view(split_sizes(tensor, layout));
  return split.mul(along_samples(scale.to(tensor.scalar_type()), tensor, layout))
      .view(tensor.sizes());
}

Tensor only_sample(const Tensor& tensor, const Layout& layout, int64_t n) {
  Tensor kept = at::zeros(tensor.sizes(), tensor.options());
  const Shape sizes = split_sizes(tensor, layout);
  kept.view(sizes).select(layout.dim + 1, n).copy_(tensor.view(sizes).select(layout.dim + 1, n));
  return kept;
}

}  // namespace flightdeck

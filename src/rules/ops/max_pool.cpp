// SPDX-License-Identifier: MIT
// Max pooling, fixed or adaptive: output entries are copies of the input entries it remembers.
#include <algorithm>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include "rules/families.h"
#include "rules/stacks.h"

namespace flightdeck::rules {
namespace {

namespace nodes = compat::nodes;

bool is_three_dimensional(const NodeView& node) {
  return node.name().find("3D") != std::string::npos;
}

Shape max_pooled_dims(const NodeView& node) {
  return is_three_dimensional(node) ? Shape{-1, -2, -3} : Shape{-1, -2};
}

// Returns positions within the input plane, [planes, outputs].
Tensor sources(const NodeView& node) {
  const std::string name = node.name();
  Tensor indices;
  if (name == "MaxPool2DWithIndicesBackward0") {
    indices = node.unpack(node.as<nodes::MaxPool2DWithIndicesBackward0>().result1_);
  } else if (name == "MaxPool3DWithIndicesBackward0") {
    indices = node.unpack(node.as<nodes::MaxPool3DWithIndicesBackward0>().result1_);
  } else if (name == "AdaptiveMaxPool2DBackward0") {
    indices = node.unpack(node.as<nodes::AdaptiveMaxPool2DBackward0>().result1_);
  } else {
    indices = node.unpack(node.as<nodes::AdaptiveMaxPool3DBackward0>().result1_);
  }
  const int64_t dims = is_three_dimensional(node) ? 3 : 2;
  return indices.flatten(-dims).reshape(
      {-1, product(indices.sizes().slice(indices.dim() - dims).vec())});
}

int64_t plane_size(const NodeView& node) {
  const Shape input = node.input_shape(0);
  const size_t dims = is_three_dimensional(node) ? 3 : 2;
  return product(Shape(input.end() - static_cast<int64_t>(dims), input.end()));
}

// Sets `to` to zero and adds from[k][plane][o] to to[k][plane][sources[plane][o]]: windows may
// overlap, planes do not. A plane is cleared just before, while it is in the cache.
template <typename Scalar>
void scatter_planes(const Tensor& from, const Tensor& sources, const Tensor& to) {
  const int64_t K = from.size(0), planes = from.size(1), outputs = from.size(2);
  const int64_t inputs = to.size(2);
  const Scalar* gradients = from.data_ptr<Scalar>();
  const int64_t* index = sources.data_ptr<int64_t>();
  Scalar* result = to.data_ptr<Scalar>();
  at::parallel_for(0, K * planes, 64, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const Scalar* g = gradients + r * outputs;
      const int64_t* source = index + (r % planes) * outputs;
      Scalar* target = result + r * inputs;
      std::fill_n(target, inputs, Scalar(0));
      for (int64_t o = 0; o < outputs; ++o) target[source[o]] += g[o];
    }
  });
}

class MaxPoolRule final : public AlongDimsRule {
 public:
  MaxPoolRule()
      : AlongDimsRule({"AdaptiveMaxPool2DBackward0",
                       "AdaptiveMaxPool3DBackward0",
                       "MaxPool2DWithIndicesBackward0",
                       "MaxPool3DWithIndicesBackward0"},
                      &max_pooled_dims,
                      /*is_linear=*/true) {}

  bool keeps_channels(const NodeView&) const override { return true; }
  bool picks_entries() const override { return true; }

  Tensor columns(const NodeView& node, size_t edge, const Tensor& stack) const override {
    if (!stack.is_cpu() && node.name() == "MaxPool2DWithIndicesBackward0" && stack.dim() == 5) {
      return columns_by_kernel(node, stack);
    }
    const Tensor index = sources(node).contiguous();  // [planes, outputs]
    const Tensor from = stack.contiguous().view({stack.size(0), index.size(0), index.size(1)});
    Tensor to = at::empty({stack.size(0), index.size(0), plane_size(node)}, stack.options());
    if (stack.is_cpu() && stack.scalar_type() == at::kFloat) {
      scatter_planes<float>(from, index, to);
    } else if (stack.is_cpu() && stack.scalar_type() == at::kDouble) {
      scatter_planes<double>(from, index, to);
    } else {
      to.zero_().scatter_add_(2, index.unsqueeze(0).expand_as(from), from);
    }
    return to.view(with_lead(stack.size(0), node.input_shape(edge)));
  }

  // Gathers by LibTorch's kernel: a GPU gathers faster than it scatters, even with the indices
  // written out for every column.
  static Tensor columns_by_kernel(const NodeView& node, const Tensor& stack) {
    const auto& pool = node.as<nodes::MaxPool2DWithIndicesBackward0>();
    const int64_t K = stack.size(0);
    const Tensor indices = node.unpack(pool.result1_);
    Shape sizes = node.input_shape(0);
    sizes[0] *= K;
    const Tensor result = at::max_pool2d_with_indices_backward(fold(stack).contiguous(),
                                                               at::empty(sizes, stack.options()),
                                                               compat::to_ints(pool.kernel_size),
                                                               compat::to_ints(pool.stride),
                                                               compat::to_ints(pool.padding),
                                                               compat::to_ints(pool.dilation),
                                                               pool.ceil_mode,
                                                               indices.repeat({K, 1, 1, 1}));
    return unfold(result, K);
  }

  Tensor tangent(const NodeView& node, const std::vector<Tensor>& tangents) const override {
    const Tensor index = sources(node);
    const int64_t V = tangents[0].size(0);
    const Tensor planes = tangents[0].reshape({V, index.size(0), plane_size(node)});
    const Tensor picked = planes.gather(2, index.unsqueeze(0).expand({V, -1, -1}));
    return picked.view(with_lead(V, node.output_shape()));
  }
};

}  // namespace

const Rule& max_pool() {
  static const MaxPoolRule rule;
  return rule;
}

}  // namespace flightdeck::rules

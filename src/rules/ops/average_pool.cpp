// SPDX-License-Identifier: MIT
// Average pooling: a fixed linear map of every plane.
#include <ATen/ATen.h>

#include "rules/families.h"
#include "rules/stacks.h"

namespace flightdeck::rules {
namespace {

using compat::nodes::AvgPool2DBackward0;
using compat::nodes::AvgPool3DBackward0;

bool is_three_dimensional(const NodeView& node) {
  return node.name().find("3D") != std::string::npos;
}

Shape average_pooled_dims(const NodeView& node) {
  return is_three_dimensional(node) ? Shape{-1, -2, -3} : Shape{-1, -2};
}

// Returns all columns as samples, in the rank the op wants: [K * N, C, ...].
Tensor as_images(const Tensor& stack, const NodeView& node) {
  const int64_t rank = is_three_dimensional(node) ? 5 : 4;
  return stack.dim() > rank ? stack.flatten(0, stack.dim() - rank) : stack;
}

template <typename NodeType, typename Backward>
Tensor apply_backward(const NodeView& node,
                      const Tensor& stack,
                      const Shape& sizes,
                      const Backward& backward) {
  const auto& pool = node.as<NodeType>();
  // Only the sizes of the input matter.
  const Tensor input = as_images(at::empty(with_lead(stack.size(0), sizes), stack.options()), node);
  return backward(as_images(stack.contiguous(), node),
                  input,
                  compat::to_ints(pool.kernel_size),
                  compat::to_ints(pool.stride),
                  compat::to_ints(pool.padding),
                  pool.ceil_mode,
                  pool.count_include_pad,
                  pool.divisor_override);
}

class AveragePoolRule final : public AlongDimsRule {
 public:
  AveragePoolRule()
      : AlongDimsRule({"AdaptiveAvgPool2DBackward0",
                       "AdaptiveAvgPool3DBackward0",
                       "AvgPool2DBackward0",
                       "AvgPool3DBackward0"},
                      &average_pooled_dims,
                      /*is_linear=*/true) {}

  bool has_constant_jacobian(const NodeView&) const override { return true; }
  bool keeps_channels(const NodeView& node) const override { return !is_adaptive(node); }

  Tensor columns(const NodeView& node, size_t edge, const Tensor& stack) const override {
    const Shape sizes = node.input_shape(edge);
    if (is_adaptive(node)) return adaptive_columns(node, stack, sizes);
    const Tensor result =
        is_three_dimensional(node)
            ? apply_backward<AvgPool3DBackward0>(
                  node,
                  stack,
                  sizes,
                  [](auto&&... args) { return at::avg_pool3d_backward(args...); })
            : apply_backward<AvgPool2DBackward0>(node, stack, sizes, [](auto&&... args) {
                return at::avg_pool2d_backward(args...);
              });
    return result.view(with_lead(stack.size(0), sizes));
  }

  Tensor tangent(const NodeView& node, const std::vector<Tensor>& tangents) const override {
    const Tensor images = as_images(tangents[0].contiguous(), node);
    if (is_adaptive(node)) return adaptive_tangent(node, images, tangents[0].size(0));
    const auto pooled = [&images](const auto& pool, const auto& forward) {
      return forward(images,
                     compat::to_ints(pool.kernel_size),
                     compat::to_ints(pool.stride),
                     compat::to_ints(pool.padding),
                     pool.ceil_mode,
                     pool.count_include_pad,
                     pool.divisor_override);
    };
    const Tensor result = is_three_dimensional(node)
                              ? pooled(node.as<AvgPool3DBackward0>(),
                                       [](auto&&... args) { return at::avg_pool3d(args...); })
                              : pooled(node.as<AvgPool2DBackward0>(),
                                       [](auto&&... args) { return at::avg_pool2d(args...); });
    return result.view(with_lead(tangents[0].size(0), node.output_shape()));
  }

 private:
  static bool is_adaptive(const NodeView& node) { return node.name().rfind("Adaptive", 0) == 0; }

  static Tensor adaptive_columns(const NodeView& node, const Tensor& stack, const Shape& sizes) {
    const Shape all = with_lead(stack.size(0), sizes);
    const Tensor input = as_images(at::empty(all, stack.options()), node);
    const Tensor images = as_images(stack.contiguous(), node);
    const Tensor result = is_three_dimensional(node)
                              ? at::_adaptive_avg_pool3d_backward(images, input)
                              : at::_adaptive_avg_pool2d_backward(images, input);
    return result.view(all);
  }

  static Tensor adaptive_tangent(const NodeView& node, const Tensor& images, int64_t V) {
    const Shape output = node.output_shape();
    const int64_t dims = is_three_dimensional(node) ? 3 : 2;
    const Shape space(output.end() - dims, output.end());
    const Tensor pooled = is_three_dimensional(node) ? at::_adaptive_avg_pool3d(images, space)
                                                     : at::_adaptive_avg_pool2d(images, space);
    return pooled.view(with_lead(V, output));
  }
};

}  // namespace

const Rule& average_pool() {
  static const AveragePoolRule rule;
  return rule;
}

}  // namespace flightdeck::rules

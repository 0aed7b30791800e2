// SPDX-License-Identifier: MIT
// Taking a range of a dimension (slice, narrow) or cutting it into ranges (split, chunk).
#include <numeric>

#include <ATen/ATen.h>

#include "rules/families.h"
#include "rules/stacks.h"

namespace flightdeck::rules {
namespace {

namespace nodes = compat::nodes;

struct Range {
  int64_t dim, start, step;
};

template <typename NodeType>
Range equal_parts(const NodeView& node, size_t output) {
  const auto& split = node.as<NodeType>();
  return {compat::to_int(split.dim),
          static_cast<int64_t>(output) * compat::to_int(split.split_size),
          1};
}

template <typename NodeType>
Range listed_parts(const NodeView& node, size_t output) {
  const auto& split = node.as<NodeType>();
  const Shape sizes = compat::to_ints(split.split_sizes);
  return {compat::to_int(split.dim),
          std::accumulate(sizes.begin(), sizes.begin() + static_cast<int64_t>(output), int64_t{0}),
          1};
}

Range range_of(const NodeView& node, size_t output) {
  const std::string name = node.name();
  const Shape input = node.input_shape(0);
  Range range{};
  if (name == "SliceBackward0") {
    const auto& slice = node.as<nodes::SliceBackward0>();
    range = {
        compat::to_int(slice.dim), compat::to_int_or(slice.start, 0), compat::to_int(slice.step)};
  } else if (name == "SplitBackward0") {
    range = equal_parts<nodes::SplitBackward0>(node, output);
  } else if (name == "UnsafeSplitBackward0") {
    range = equal_parts<nodes::UnsafeSplitBackward0>(node, output);
  } else if (name == "SplitWithSizesBackward0") {
    range = listed_parts<nodes::SplitWithSizesBackward0>(node, output);
  } else {
    range = listed_parts<nodes::UnsafeSplitWithSizesBackward0>(node, output);
  }
  range.dim = wrap(range.dim, input.size());
  if (range.start < 0) range.start = std::max<int64_t>(0, range.start + input[range.dim]);
  return range;
}

class SliceRule final : public Rule {
 public:
  std::vector<std::string_view> nodes() const override {
    return {"SliceBackward0",
            "SplitBackward0",
            "SplitWithSizesBackward0",
            "UnsafeSplitBackward0",
            "UnsafeSplitWithSizesBackward0"};
  }

  Layout input_layout(const NodeView& node, size_t edge, const Layout& out) const override {
    if (!out.is_batch()) return Layout::unknown();
    // x[:] on the batch dimension keeps all samples.
    if (node.output_shape() == node.input_shape(edge)) return out;
    return range_of(node, 0).dim == out.dim ? Layout::unknown() : out;
  }

  bool is_view() const override { return true; }

  bool carry(const NodeView& node, size_t edge, size_t output, Rows& rows) const override {
    const Range range = range_of(node, output);
    for (auto& term : rows.terms()) {
      term.placement.undo_slice(node.input_shape(edge), range.dim, range.start, range.step);
    }
    return true;
  }

  Tensor columns(const NodeView& node, size_t edge, const Tensor& stack) const override {
    if (node.name() != "SliceBackward0") return {};  // several outputs
    Tensor whole = at::zeros(with_lead(stack.size(0), node.input_shape(edge)), stack.options());
    part_of(node, whole).copy_(stack);
    return whole;
  }

  Tensor tangent(const NodeView& node, const std::vector<Tensor>& tangents) const override {
    return node.name() == "SliceBackward0" ? part_of(node, tangents[0]) : Tensor();
  }

  bool is_linear(const NodeView&) const override { return true; }

 private:
  static Tensor part_of(const NodeView& node, const Tensor& stack) {
    const Range range = range_of(node, 0);
    const int64_t count = node.output_shape()[range.dim];
    const int64_t end = range.start + (count - 1) * range.step + 1;
    return stack.slice(range.dim + 1, range.start, count == 0 ? range.start : end, range.step);
  }
};

}  // namespace

const Rule& slice() {
  static const SliceRule rule;
  return rule;
}

}  // namespace flightdeck::rules

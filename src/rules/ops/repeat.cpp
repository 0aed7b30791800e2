// SPDX-License-Identifier: MIT
// Tiling: output index = tile * size + input index along each dimension. Instance norm repeats its
// scale once per sample this way.
#include <ATen/ATen.h>

#include "rows/dense.h"
#include "rules/rule.h"

namespace flightdeck::rules {
namespace {

class RepeatRule final : public Rule {
 public:
  std::vector<std::string_view> nodes() const override { return {"RepeatBackward0"}; }

  Layout input_layout(const NodeView& node, size_t edge, const Layout& out) const override {
    if (!out.is_batch()) return Layout::unknown();
    const Shape input = node.input_shape(edge), output = node.output_shape();
    const int64_t dim = out.dim - static_cast<int64_t>(output.size() - input.size());
    if (dim < 0 || input[dim] == 1) return Layout::free();
    if (input[dim] == output[out.dim]) return out.at_dim(dim);
    if (out.is_scattered()) return Layout::unknown();
    // The samples index whole tiles.
    return out.inner % input[dim] == 0 ? Layout::free() : Layout::unknown();
  }

  Rows rows(const NodeView& node,
            size_t edge,
            const Tensor& gradient,
            const Layout& out) const override {
    const Shape input = node.input_shape(edge);
    // Samples move in front, then every dimension is split into (tiles, entries) and the tiles
    // summed.
    const Tensor split = in_row_precision(samples_first(gradient, out));
    const int64_t shift = gradient.dim() - static_cast<int64_t>(input.size());
    Shape sizes{out.N}, summed;
    const auto push_tiled = [&](int64_t size, int64_t entries) {
      summed.push_back(static_cast<int64_t>(sizes.size()));
      sizes.push_back(size / entries);
      sizes.push_back(entries);
    };
    for (int64_t d = 0; d < gradient.dim(); ++d) {
      const int64_t entries = d < shift ? 1 : input[d - shift];
      if (d == out.dim) {
        push_tiled(out.outer, 1);
        push_tiled(out.inner, entries);
      } else {
        push_tiled(gradient.size(d), entries);
      }
    }
    Shape row_sizes{out.N};
    row_sizes.insert(row_sizes.end(), input.begin(), input.end());
    const Tensor rows = split.reshape(sizes).sum(summed).reshape(row_sizes);
    return Rows(std::make_shared<DenseForm>(rows, "sum"));
  }

  bool is_linear(const NodeView&) const override { return true; }
  bool handles_complex() const override { return true; }
};

}  // namespace

const Rule& repeat() {
  static const RepeatRule rule;
  return rule;
}

}  // namespace flightdeck::rules

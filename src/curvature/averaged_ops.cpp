// SPDX-License-Identifier: MIT
// How the matrix of an averaged chain goes through one op, and how it is folded to the channels of
// a convolution.
#include <memory>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include "curvature/averaged.h"
#include "curvature/averaged_bands.h"
#include "curvature/loss_hessians.h"
#include "rules/stacks.h"

namespace flightdeck {
namespace {

bool is_convolution(const CapturedNode& captured) {
  return captured.rule &&
         captured.rule->layer_kind(NodeView(captured.node)) == LayerKind::kConvolution;
}

bool picks_entries(const CapturedNode& captured) {
  return captured.rule && captured.rule->picks_entries();
}

bool is_padding(const CapturedNode& captured) {
  return captured.rule && !captured.rule->padding(NodeView(captured.node)).empty();
}

// Adds share * from[o][p] to to[index[o]][index[p]] for each sample. `index` is [N, m]; entries of
// one channel stay among the rows of that channel.
template <typename Scalar>
void scatter_square(
    const Tensor& from, const Tensor& index, int64_t channels, double share, const Tensor& to) {
  const int64_t N = index.size(0), m = from.size(0), width = to.size(1);
  const int64_t per_channel = m / channels;
  const Scalar* source = from.data_ptr<Scalar>();
  const int64_t* places = index.data_ptr<int64_t>();
  Scalar* target = to.data_ptr<Scalar>();
  at::parallel_for(0, channels, 1, [&](int64_t begin, int64_t end) {
    for (int64_t o = begin * per_channel; o < end * per_channel; ++o) {
      const Scalar* line = source + o * m;
      for (int64_t n = 0; n < N; ++n) {
        const int64_t* place = places + n * m;
        Scalar* row = target + place[o] * width;
        for (int64_t p = 0; p < m; ++p) row[place[p]] += Scalar(share) * line[p];
      }
    }
  });
}

}  // namespace

Tensor AveragedChain::through(size_t position, const Tensor& matrix) {
  const NodeView view(capture_.nodes[position].node);
  const size_t edge = next_edge(position);
  check_size(position, entries_per_sample(view.input_shape(edge)));
  const bool averages_jacobians = options_.average == BatchAverage::kJacobians;
  if (linearisation_.is_elementwise(position) && !is_constant(position)) {
    return through_elementwise(position, matrix);
  }
  if (is_constant(position)) return through_constant(position, matrix);
  if (picks_entries(capture_.nodes[position]) && !averages_jacobians) {
    return through_max_pool(position, matrix);
  }
  TORCH_CHECK_NOT_IMPLEMENTED(
      options_.bending == Bending::kNone || linearisation_.is_linear(position),
      options_.what,
      " has no residual for ",
      view.name(),
      "; use the operators instead");
  return through_samples(position, matrix);
}

Tensor AveragedChain::residual(size_t position) {
  if (options_.bending == Bending::kNone) return {};
  Tensor curved = linearisation_.elementwise_bend(position, gradients_[position]);
  if (!curved.defined()) return {};
  const Layout layout = input_layout(position, next_edge(position));
  curved = chosen(per_sample(curved.unsqueeze(0), layout).squeeze(0));  // [N, m]
  if (options_.pch_order == PchOrder::kAverageFirst) curved = curved.mean(0, /*keepdim=*/true);
  if (options_.bending == Bending::kClip) curved = curved.clamp_min(0);
  if (options_.bending == Bending::kAbs) curved = curved.abs();
  return curved.mean(0);
}

// Returns the lines [N, ...] of the chosen samples.
Tensor AveragedChain::chosen(const Tensor& per_sample_lines) const {
  if (context_.samples().empty()) return per_sample_lines;
  const Tensor index = at::tensor(context_.samples(), at::kLong).to(per_sample_lines.device());
  return per_sample_lines.index_select(0, index);
}

// Returns phi' of an elementwise node, [N, m].
Tensor AveragedChain::slopes_of(size_t position) {
  const size_t edge = next_edge(position);
  return chosen(
      per_sample(linearisation_.slope(position, edge).unsqueeze(0), input_layout(position, edge))
          .squeeze(0));
}

Tensor AveragedChain::through_elementwise(size_t position, const Tensor& matrix) {
  const Tensor slopes = slopes_of(position);
  Tensor result;
  if (options_.average == BatchAverage::kJacobians) {
    const Tensor mean = slopes.mean(0);
    result = matrix * mean.unsqueeze(0) * mean.unsqueeze(1);
  } else {
    result = symmetric_product(slopes).div_(static_cast<double>(context_.count())).mul_(matrix);
  }
  const Tensor bent = residual(position);
  if (bent.defined()) result.diagonal().add_(bent);
  return result;
}

// Multiplies lines [L, m_out] with the Jacobian that all samples share. Lines take the places of
// samples.
Tensor AveragedChain::lines_through(size_t position, size_t edge, const Tensor& lines) {
  const CapturedNode& captured = capture_.nodes[position];
  const int64_t L = lines.size(0), N = capture_.N;
  const Shape input = NodeView(captured.node).input_shape(edge);
  const Shape output = NodeView(captured.node).output_shape();
  std::vector<bool> wanted(captured.edges.size(), false);
  wanted[edge] = true;
  // A few hundred lines at a time bound the memory.
  const int64_t piece = std::max<int64_t>(1, 1024 / N) * N;
  Tensor result = at::empty({L, entries_per_sample(input)}, lines.options());
  for (int64_t begin = 0; begin < L; begin += piece) {
    Tensor part = lines.slice(0, begin, begin + piece);
    const int64_t count = part.size(0);
    if (count % N != 0) part = at::constant_pad_nd(part, {0, 0, 0, N - count % N});
    const Tensor stack =
        from_per_sample(part.reshape({-1, N, lines.size(1)}), output, captured.layout);
    const Tensor down = linearisation_.columns(position, {stack}, wanted)[edge];
    result.slice(0, begin, begin + count)
        .copy_(per_sample(down, input_layout(position, edge)).flatten(0, 1).slice(0, 0, count));
  }
  return result;
}

Tensor AveragedChain::through_constant(size_t position, const Tensor& matrix) {
  const size_t edge = next_edge(position);
  return lines_through(position, edge, lines_through(position, edge, matrix).t());
}

// Multiplies lines [L, m_out] with the mean over the samples of the Jacobian, to [L, m_in].
Tensor AveragedChain::mean_lines_through(size_t position, size_t edge, const Tensor& lines) {
  if (is_constant(position)) return lines_through(position, edge, lines.contiguous());
  if (linearisation_.is_elementwise(position)) return lines * slopes_of(position).mean(0);
  const CapturedNode& captured = capture_.nodes[position];
  const Shape output = NodeView(captured.node).output_shape();
  std::vector<bool> wanted(captured.edges.size(), false);
  wanted[edge] = true;
  std::vector<Tensor> means;
  for (const Tensor& line : lines.unbind(0)) {
    const Tensor stack =
        from_per_sample(line.view({1, 1, -1}).expand({1, capture_.N, -1}), output, captured.layout);
    const Tensor down = linearisation_.columns(position, {stack}, wanted)[edge];
    means.push_back(chosen(per_sample(down, input_layout(position, edge)).squeeze(0)).mean(0));
  }
  return at::stack(means);
}

// Handles Jacobians that differ between samples: every line goes through for every sample.
Tensor AveragedChain::through_samples(size_t position, const Tensor& matrix) {
  const CapturedNode& captured = capture_.nodes[position];
  const size_t edge = next_edge(position);
  const int64_t N = capture_.N;
  const Shape output = NodeView(captured.node).output_shape();
  const Layout below = input_layout(position, edge);
  std::vector<bool> wanted(captured.edges.size(), false);
  wanted[edge] = true;
  const double bytes = double(matrix.size(0)) * double(N) * double(matrix.element_size()) *
                       double(entries_per_sample(NodeView(captured.node).input_shape(edge)));
  const int64_t allowed = context_.memory().matrix_bytes;
  TORCH_CHECK_VALUE(bytes <= double(allowed),
                    options_.what,
                    " takes every line of a matrix of ",
                    matrix.size(0),
                    " x ",
                    matrix.size(0),
                    " entries through ",
                    captured.node->name(),
                    " for each of ",
                    N,
                    " samples (",
                    bytes,
                    " bytes), more than the ",
                    allowed,
                    " bytes allowed; raise matrix_bytes, or use KFLR");
  const auto down = [&](const Tensor& lines) {  // [L, N, m_out] -> [L, N, m_in]
    const Tensor stack = from_per_sample(lines, output, captured.layout);
    return per_sample(linearisation_.columns(position, {stack}, wanted)[edge], below);
  };
  const Tensor half = down(matrix.unsqueeze(1).expand({-1, N, -1}));  // [m_out, N, m_in]
  if (options_.average == BatchAverage::kJacobians) {
    const Tensor mean = chosen(half.transpose(0, 1)).mean(0).t();  // [m_in, m_out]
    return chosen(down(mean.unsqueeze(1).expand({-1, N, -1})).transpose(0, 1)).mean(0);
  }
  return chosen(down(half.permute({2, 1, 0})).transpose(0, 1)).mean(0);
}

// Tells which input entry each output entry of a max-pooling is a copy of, [N, m_out], by pooling
// the entries' own numbers.
Tensor AveragedChain::sources_of(size_t position) {
  const CapturedNode& captured = capture_.nodes[position];
  const NodeView view(captured.node);
  const size_t edge = next_edge(position);
  const Shape input = view.input_shape(edge);
  const int64_t N = capture_.N, m = entries_per_sample(input);
  const auto options = matrix_.options().dtype(at::kLong);
  const Tensor numbers = from_per_sample(at::arange(m, options).view({1, 1, m}).expand({1, N, m}),
                                         input,
                                         input_layout(position, edge));
  const Tensor picked = captured.rule->tangent(view, {numbers});
  return chosen(per_sample(picked, captured.layout).squeeze(0)).contiguous();
}

Tensor AveragedChain::through_max_pool(size_t position, const Tensor& matrix) {
  const CapturedNode& captured = capture_.nodes[position];
  const Shape input = NodeView(captured.node).input_shape(next_edge(position));
  const int64_t m = entries_per_sample(input);
  const Tensor index = sources_of(position);
  Tensor result = at::zeros({m, m}, matrix.options());
  const double share = 1.0 / static_cast<double>(index.size(0));
  const bool is_plain = captured.layout == Layout::batch(capture_.N, 0);
  if (matrix.is_cpu() && is_plain && matrix.scalar_type() == at::kFloat) {
    scatter_square<float>(matrix.contiguous(), index, input[1], share, result);
  } else if (matrix.is_cpu() && is_plain && matrix.scalar_type() == at::kDouble) {
    scatter_square<double>(matrix.contiguous(), index, input[1], share, result);
  } else {
    for (int64_t n = 0; n < index.size(0); ++n) {
      const Tensor wide =
          at::zeros({matrix.size(0), m}, matrix.options()).index_add_(1, index[n], matrix);
      result.index_add_(0, index[n], wide, share);
    }
  }
  return result;
}

// Sums the entries of the matrix over the positions of the node's output: [J, J].
Tensor AveragedChain::fold(size_t position) const {
  const NodeView view(capture_.nodes[position].node);
  const Shape output = view.output_shape();
  const int64_t m = matrix_.size(0);
  if (is_convolution(capture_.nodes[position])) {
    const int64_t J = output[1];
    return matrix_.view({J, m / J, J, m / J}).sum(at::IntArrayRef({1, 3}));
  }
  const int64_t J = output.back();
  return J == m ? matrix_ : matrix_.view({m / J, J, m / J, J}).sum(at::IntArrayRef({0, 2}));
}

// Pending ops work within channels: each band of the matrix, the lines of one channel against those
// of this and later channels, can be taken through all of them on its own, so that the matrix they
// lead to is never whole.
Tensor AveragedChain::fold_lazily(size_t position) {
  const auto is_plain = [this](size_t k) {
    return capture_.nodes[k].layout == Layout::batch(capture_.N, 0);
  };
  bool can = is_convolution(capture_.nodes[position]) &&
             options_.average == BatchAverage::kProducts && is_plain(position) && !pending_.empty();
  for (size_t k : pending_) {
    const CapturedNode& op = capture_.nodes[k];
    can = can && is_plain(k) &&
          (linearisation_.is_elementwise(k) || picks_entries(op) || is_padding(op));
  }
  if (can) return fold_by_bands(position);
  flush();
  return fold(position);
}

Tensor AveragedChain::fold_by_bands(size_t position) {
  const int64_t J = NodeView(capture_.nodes[position].node).output_shape()[1];
  std::vector<std::unique_ptr<BandOp>> ops;
  for (size_t k : pending_) {
    const CapturedNode& captured = capture_.nodes[k];
    const NodeView view(captured.node);
    if (picks_entries(captured)) {
      const int64_t m = entries_per_sample(view.input_shape(0));
      ops.push_back(max_pool_band(sources_of(k), J, m / J));
    } else if (is_padding(captured)) {
      ops.push_back(pad_band(view, captured.rule->padding(view), J));
    } else {
      ops.push_back(elementwise_band(slopes_of(k), J));
    }
  }
  Tensor folded = at::zeros({J, J}, matrix_.options());
  const int64_t size = matrix_.size(0) / J;
  for (int64_t j = 0; j < J; ++j) {
    Tensor band = matrix_.slice(0, j * size, (j + 1) * size).slice(1, j * size);
    for (const auto& op : ops) band = op->through(band, j);
    const Tensor line = band.view({band.size(0), J - j, band.size(0)}).sum(at::IntArrayRef({0, 2}));
    folded.select(0, j).slice(0, j).copy_(line);
    folded.select(1, j).slice(0, j).copy_(line);
  }
  return folded;
}

}  // namespace flightdeck

// SPDX-License-Identifier: MIT
#include "curvature/averaged.h"

#include <algorithm>
#include <memory>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include "curvature/averaged_bands.h"
#include "curvature/eigh.h"
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

bool has_uses(const CapturedNode& captured) {
  return std::find(captured.edges.begin(), captured.edges.end(), EdgeKind::kUse) !=
         captured.edges.end();
}

bool is_padding(const CapturedNode& captured) {
  return captured.rule && !captured.rule->padding(NodeView(captured.node)).empty();
}

int64_t entries_per_sample(const Shape& shape, int64_t N) { return product(shape) / N; }

// to[index[o]][index[p]] += share * from[o][p] for each sample; `index` [N, m], entries of one
// channel stay among the rows of that channel.
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

AveragedChain::AveragedChain(CurvatureContext& context, const Options& options)
    : context_(context),
      linearisation_(context.linearisation()),
      capture_(context.capture()),
      options_(options),
      collector_(capture_, context.samples(), nullptr, [this](size_t parameter, Rows rows) {
        const KroneckerShape shape = kronecker_shape(rows);
        const bool is_bias = shape.kind == KroneckerShape::Kind::kVector &&
                             std::string(rows.terms()[0].form->name()) == "sum";
        used_.push_back({parameter, std::move(rows), shape, is_bias});
      }) {
  TORCH_CHECK_NOT_IMPLEMENTED(context.loss().heads.size() == 1 && capture_.N > 1,
                              options_.what,
                              " follows one chain of layers from one loss over several samples, "
                              "but this loss has ",
                              context.loss().heads.size(),
                              " heads and ",
                              capture_.N,
                              " samples; use KFLR or the operators instead");
}

Layout AveragedChain::input_layout(size_t position, size_t edge) const {
  const CapturedNode& captured = capture_.nodes[position];
  return captured.rule->input_layout(NodeView(captured.node), edge, captured.layout);
}

// The mean over the chosen samples, [m, m].
Tensor AveragedChain::mean_of(const LossHessian& hessian, const LossHead& head) {
  const int64_t m = head.gradient.numel() / capture_.N, columns = hessian.columns();
  Tensor total = at::zeros({m, m}, head.gradient.options());
  // About as many columns at a time as there are samples: a piece is then no larger than the
  // matrix.
  const int64_t piece = std::max<int64_t>(1, m / capture_.N);
  for (int64_t begin = 0; begin < columns; begin += piece) {
    const Tensor factor =
        per_sample(hessian.factor(begin, std::min(begin + piece, columns)), head.layout);
    add_symmetric_product(total, chosen(factor.transpose(0, 1)).flatten(0, 1).t());
  }
  mirror_upper(total);
  return total.div_(static_cast<double>(context_.count()));
}

Tensor AveragedChain::loss_average() {
  const LossHead& head = context_.loss().heads[0];
  check_size(head.position, head.gradient.numel() / capture_.N);
  const Tensor convex = mean_of(*head.hessian, head);
  if (options_.bending == Bending::kNone || !head.concave) return convex;
  const bool is_sample_first = options_.pch_order == PchOrder::kSampleFirst;
  if (options_.bending == Bending::kClip && is_sample_first) return convex;
  const Tensor concave = mean_of(*head.concave, head);
  // The parts of a sample share their eigenvectors: their sum has the absolute eigenvalues.
  if (options_.bending == Bending::kAbs && is_sample_first) return convex + concave;
  const Tensor whole = convex - concave;
  if (options_.bending == Bending::kExact) return whole;
  const auto [values, vectors] = eigh(whole);
  const Tensor kept = options_.bending == Bending::kAbs ? values.abs() : values.clamp_min(0);
  return at::mm(vectors * kept.unsqueeze(0), vectors.t());
}

// The edges along which the samples go on.
std::vector<size_t> AveragedChain::batch_edges(size_t position) const {
  const CapturedNode& captured = capture_.nodes[position];
  std::vector<size_t> found;
  for (size_t e = 0; e < captured.edges.size(); ++e) {
    if (captured.next[e] < 0 || captured.edges[e] == EdgeKind::kUse) continue;
    TORCH_CHECK_NOT_IMPLEMENTED(captured.edges[e] == EdgeKind::kBatch && captured.rule,
                                options_.what,
                                " has no rule for ",
                                captured.node->name(),
                                "; use KFLR or the operators instead");
    TORCH_CHECK_NOT_IMPLEMENTED(!input_layout(position, e).is_scattered(),
                                options_.what,
                                " takes as many entries of every sample, but ",
                                captured.node->name(),
                                " picks them in any order; use KFLR or the operators instead");
    found.push_back(e);
  }
  return found;
}

// The one edge the chain goes on along, or the number of edges if it ends here.
size_t AveragedChain::next_edge(size_t position) const {
  const std::vector<size_t> found = batch_edges(position);
  TORCH_CHECK_NOT_IMPLEMENTED(found.size() < 2,
                              options_.what,
                              " is defined for chains of layers, but ",
                              capture_.nodes[position].node->name(),
                              " joins two branches; use KFLR or the operators instead");
  return found.empty() ? capture_.nodes[position].edges.size() : found[0];
}

// The Jacobian is the same for every sample.
bool AveragedChain::is_constant(size_t position) const {
  const CapturedNode& captured = capture_.nodes[position];
  return captured.rule->has_constant_jacobian(NodeView(captured.node));
}

// Entry by entry, or within each plane of a [N, C, ...] tensor.
bool AveragedChain::keeps_channels(size_t position) const {
  const CapturedNode& captured = capture_.nodes[position];
  return linearisation_.is_elementwise(position) ||
         (captured.rule && captured.rule->keeps_channels(NodeView(captured.node)));
}

void AveragedChain::check_size(size_t position, int64_t m) const {
  const auto item = context_.loss().heads[0].gradient.element_size();
  const double bytes = double(m) * double(m) * double(item);
  const int64_t allowed = context_.memory().matrix_bytes;
  TORCH_CHECK_VALUE(bytes <= double(allowed),
                    options_.what,
                    " needs a matrix of ",
                    m,
                    " x ",
                    m,
                    " entries (",
                    bytes,
                    " bytes) at ",
                    capture_.nodes[position].node->name(),
                    ", more than the ",
                    allowed,
                    " bytes allowed; raise matrix_bytes, or use KFLR");
}

// A matrix over complex entries could not hold what their real and imaginary parts do.
void AveragedChain::check_real(size_t position) const {
  const NodeView view(capture_.nodes[position].node);
  TORCH_CHECK_NOT_IMPLEMENTED(!view.has_complex(),
                              options_.what,
                              " averages matrices over real entries, but ",
                              view.name(),
                              " has complex ones; use KFLR or the operators instead");
}

void AveragedChain::run(const std::function<void(const Use&)>& visit) {
  if (options_.bending != Bending::kNone) {
    gradients_.resize(capture_.nodes.size());
    walk_columns(
        linearisation_,
        context_.loss().gradients(),
        [](const CapturedNode& captured, size_t e) {
          return captured.edges[e] == EdgeKind::kBatch;
        },
        [this](size_t k, const variable_list& stacks) {
          for (const Tensor& stack : stacks) {
            gradients_[k].push_back(stack.defined() ? stack.squeeze(0) : stack);
          }
        });
  }
  if (options_.follows_branches && has_branches()) {
    run_branches(visit);
  } else {
    run_chain(visit);
  }
}

AveragedChain::Use AveragedChain::use_at(size_t position) {
  return {position,
          parameters_at(position),
          [this] {
            flush();
            return matrix_;
          },
          [this, position] { return fold_lazily(position); }};
}

void AveragedChain::run_chain(const std::function<void(const Use&)>& visit) {
  size_t position = context_.loss().heads[0].position;
  check_real(position);
  matrix_ = loss_average();
  while (true) {
    check_real(position);
    if (has_uses(capture_.nodes[position])) visit(use_at(position));
    const size_t edge = next_edge(position);
    if (edge == capture_.nodes[position].edges.size()) break;
    const bool is_lazy = keeps_channels(position) && options_.bending == Bending::kNone;
    pending_.push_back(position);
    if (!is_lazy) flush();
    position = capture_.nodes[position].next[edge];
  }
}

// Some op between the loss and the inputs joins several tensors of the batch.
bool AveragedChain::has_branches() const {
  size_t position = context_.loss().heads[0].position;
  while (true) {
    const std::vector<size_t> edges = batch_edges(position);
    if (edges.size() > 1) return true;
    if (edges.empty()) return false;
    position = capture_.nodes[position].next[edges[0]];
  }
}

// Open tensors wait until all that reads them is done, which the order of the nodes sees to. An op
// takes its own lines and columns of the joint matrix from what it gives out to what it reads; a
// tensor that is reached a second time has its lines and columns added up.
void AveragedChain::run_branches(const std::function<void(const Use&)>& visit) {
  struct OpenTensor {
    size_t position;
    int64_t begin, size;  // among the lines of the joint matrix
  };
  check_real(context_.loss().heads[0].position);
  Tensor joint = loss_average();
  std::vector<OpenTensor> open = {{context_.loss().heads[0].position, 0, joint.size(0)}};
  while (!open.empty()) {
    const auto first =
        std::min_element(open.begin(), open.end(), [](const OpenTensor& a, const OpenTensor& b) {
          return a.position < b.position;
        });
    const OpenTensor own = *first;
    open.erase(first);
    const CapturedNode& captured = capture_.nodes[own.position];
    const NodeView view(captured.node);
    check_real(own.position);
    matrix_ = joint.narrow(0, own.begin, own.size).narrow(1, own.begin, own.size).contiguous();
    if (has_uses(captured)) visit(use_at(own.position));
    const std::vector<size_t> edges = batch_edges(own.position);
    TORCH_CHECK_NOT_IMPLEMENTED(edges.size() < 2 || is_constant(own.position),
                                options_.what,
                                " follows branches that a sum joins, but ",
                                view.name(),
                                " is not linear in them; use KFLR or the operators instead");
    // What the lines of the next joint matrix are made of: an open tensor as it was, or an input.
    struct JointPart {
      size_t position, edge;
      bool is_input;
      int64_t from, size, to;
    };
    std::vector<OpenTensor> next;
    std::vector<JointPart> pieces;
    int64_t lines = 0;
    const auto add = [&](size_t position, size_t edge, bool is_input, int64_t from, int64_t size) {
      auto found = std::find_if(
          next.begin(), next.end(), [&](const OpenTensor& o) { return o.position == position; });
      if (found == next.end()) {
        next.push_back({position, lines, size});
        lines += size;
        found = next.end() - 1;
      }
      pieces.push_back({position, edge, is_input, from, size, found->begin});
    };
    for (const OpenTensor& other : open) add(other.position, 0, false, other.begin, other.size);
    for (size_t e : edges) {
      TORCH_CHECK_NOT_IMPLEMENTED(captured.node->next_edge(e).input_nr == 0,
                                  options_.what,
                                  " follows ops with one output, but ",
                                  view.name(),
                                  " reads another one of ",
                                  capture_.nodes[captured.next[e]].node->name(),
                                  "; use KFLR or the operators instead");
      add(captured.next[e],
          e,
          true,
          own.begin,
          entries_per_sample(view.input_shape(e), capture_.N));
    }
    check_size(own.position, lines);
    Tensor result = at::zeros({lines, lines}, joint.options());
    for (const JointPart& a : pieces) {
      for (const JointPart& b : pieces) {
        Tensor part;
        if (!a.is_input && !b.is_input) {
          part = joint.narrow(0, a.from, a.size).narrow(1, b.from, b.size);
        } else if (!a.is_input) {
          part = mean_lines_through(
              own.position, b.edge, joint.narrow(0, a.from, a.size).narrow(1, own.begin, own.size));
        } else if (!b.is_input) {
          continue;  // the transpose of another part
        } else if (edges.size() == 1) {
          part = through(own.position, matrix_);
        } else {
          const Tensor half = lines_through(own.position, a.edge, matrix_);  // [m, m_a]
          part = lines_through(own.position, b.edge, half.t().contiguous());
        }
        result.narrow(0, a.to, a.size).narrow(1, b.to, b.size) += part;
        if (!a.is_input && b.is_input) {
          result.narrow(0, b.to, b.size).narrow(1, a.to, a.size) += part.t();
        }
      }
    }
    joint = result;
    open = next;
  }
}

// Rows without gradients: what the parameters of a node are multiplied with.
std::vector<AveragedChain::UsedParameter> AveragedChain::parameters_at(size_t position) {
  const CapturedNode& captured = capture_.nodes[position];
  const NodeView view(captured.node);
  used_.clear();
  collector_.visit(position,
                   {at::zeros(view.output_shape(), captured.node->input_metadata(0).options())});
  const auto uses = std::count(captured.edges.begin(), captured.edges.end(), EdgeKind::kUse);
  TORCH_CHECK_NOT_IMPLEMENTED(static_cast<size_t>(uses) == used_.size(),
                              options_.what,
                              " takes each parameter where it is used once, but one of ",
                              view.name(),
                              " is used in several places; use KFLR or the operators instead");
  return std::move(used_);
}

void AveragedChain::flush() {
  for (size_t position : pending_) matrix_ = through(position, matrix_);
  pending_.clear();
}

Tensor AveragedChain::through(size_t position, const Tensor& matrix) {
  const NodeView view(capture_.nodes[position].node);
  const size_t edge = next_edge(position);
  check_size(position, entries_per_sample(view.input_shape(edge), capture_.N));
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

// Lines [N, ...] of the chosen samples.
Tensor AveragedChain::chosen(const Tensor& per_sample_lines) const {
  if (context_.samples().empty()) return per_sample_lines;
  const Tensor index = at::tensor(context_.samples(), at::kLong).to(per_sample_lines.device());
  return per_sample_lines.index_select(0, index);
}

// phi' of an elementwise node, [N, m].
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

// Lines [L, m_out] times the Jacobian that all samples share: lines take the places of samples.
Tensor AveragedChain::lines_through(size_t position, size_t edge, const Tensor& lines) {
  const CapturedNode& captured = capture_.nodes[position];
  const int64_t L = lines.size(0), N = capture_.N;
  const Shape input = NodeView(captured.node).input_shape(edge);
  const Shape output = NodeView(captured.node).output_shape();
  std::vector<bool> wanted(captured.edges.size(), false);
  wanted[edge] = true;
  // A few hundred lines at a time bound the memory.
  const int64_t piece = std::max<int64_t>(1, 1024 / N) * N;
  Tensor result = at::empty({L, entries_per_sample(input, N)}, lines.options());
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

// Lines [L, m_out] times the mean over the samples of the Jacobian, [L, m_in].
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

// Jacobians that differ between samples: every line for every sample.
Tensor AveragedChain::through_samples(size_t position, const Tensor& matrix) {
  const CapturedNode& captured = capture_.nodes[position];
  const size_t edge = next_edge(position);
  const int64_t N = capture_.N;
  const Shape output = NodeView(captured.node).output_shape();
  const Layout below = input_layout(position, edge);
  std::vector<bool> wanted(captured.edges.size(), false);
  wanted[edge] = true;
  const double bytes = double(matrix.size(0)) * double(N) * double(matrix.element_size()) *
                       double(entries_per_sample(NodeView(captured.node).input_shape(edge), N));
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

// Which input entry each output entry of a max-pooling is a copy of, [N, m_out]: pool the entries'
// own numbers.
Tensor AveragedChain::sources_of(size_t position) {
  const CapturedNode& captured = capture_.nodes[position];
  const NodeView view(captured.node);
  const size_t edge = next_edge(position);
  const Shape input = view.input_shape(edge);
  const int64_t N = capture_.N, m = entries_per_sample(input, N);
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
  const int64_t m = entries_per_sample(input, capture_.N);
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

// Entries of the matrix summed over the positions of the node's output: [J, J].
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
      const int64_t m = entries_per_sample(view.input_shape(0), capture_.N);
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

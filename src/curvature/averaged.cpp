// SPDX-License-Identifier: MIT
#include "curvature/averaged.h"

#include <algorithm>
#include <memory>

#include <ATen/ATen.h>

#include "curvature/eigh.h"
#include "curvature/loss_hessians.h"

namespace flightdeck {
namespace {

bool has_uses(const CapturedNode& captured) {
  return std::find(captured.edges.begin(), captured.edges.end(), EdgeKind::kUse) !=
         captured.edges.end();
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

// Returns the mean over the chosen samples, [m, m].
Tensor AveragedChain::mean_of(const LossHessian& hessian, const LossHead& head) {
  const int64_t m = head.gradient.numel() / capture_.N, columns = hessian.columns();
  Tensor total = at::zeros({m, m}, head.gradient.options());
  // Take so many columns at a time that a piece is no larger than the matrix.
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

// Finds the edges along which the samples go on.
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

// Returns the one edge the chain goes on along, or the number of edges if it ends here.
size_t AveragedChain::next_edge(size_t position) const {
  const std::vector<size_t> found = batch_edges(position);
  TORCH_CHECK_NOT_IMPLEMENTED(found.size() < 2,
                              options_.what,
                              " is defined for chains of layers, but ",
                              capture_.nodes[position].node->name(),
                              " joins two branches; use KFLR or the operators instead");
  return found.empty() ? capture_.nodes[position].edges.size() : found[0];
}

// Returns true if the Jacobian is the same for every sample.
bool AveragedChain::is_constant(size_t position) const {
  const CapturedNode& captured = capture_.nodes[position];
  return captured.rule->has_constant_jacobian(NodeView(captured.node));
}

// Returns true if the op works entry by entry, or within each plane of a [N, C, ...] tensor.
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

// Refuses complex entries: a matrix over them could not hold what real and imaginary parts do.
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

// Returns true if some op between the loss and the inputs joins several tensors of the batch.
bool AveragedChain::has_branches() const {
  size_t position = context_.loss().heads[0].position;
  while (true) {
    const std::vector<size_t> edges = batch_edges(position);
    if (edges.size() > 1) return true;
    if (edges.empty()) return false;
    position = capture_.nodes[position].next[edges[0]];
  }
}

// Is a tensor of the batch that what is done so far has read, at so many lines of the joint matrix.
struct AveragedChain::OpenTensor {
  size_t position;
  int64_t begin, size;
};

// Holds the lines of the next joint matrix and where they come from: an open tensor as it was, or
// an input of the op at hand.
struct AveragedChain::JointLines {
  struct Part {
    size_t edge;
    bool is_input;
    int64_t from, size, to;
  };
  std::vector<OpenTensor> open;
  std::vector<Part> parts;
  int64_t count = 0;

  void add(size_t position, size_t edge, bool is_input, int64_t from, int64_t size) {
    auto found = std::find_if(
        open.begin(), open.end(), [&](const OpenTensor& o) { return o.position == position; });
    if (found == open.end()) {
      open.push_back({position, count, size});
      count += size;
      found = open.end() - 1;
    }
    parts.push_back({edge, is_input, from, size, found->begin});
  }
};

// Open tensors wait until all that reads them is done, which the order of the nodes sees to. An op
// takes its own lines and columns of the joint matrix from what it gives out to what it reads; a
// tensor that is reached a second time has its lines and columns added up.
void AveragedChain::run_branches(const std::function<void(const Use&)>& visit) {
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
    check_real(own.position);
    matrix_ = joint.narrow(0, own.begin, own.size).narrow(1, own.begin, own.size).contiguous();
    if (has_uses(capture_.nodes[own.position])) visit(use_at(own.position));
    const JointLines next = lines_after(own, open);
    check_size(own.position, next.count);
    joint = joint_after(own, next, joint);
    open = next.open;
  }
}

// Returns the lines when the op at `own` is done and the other tensors are still open.
AveragedChain::JointLines AveragedChain::lines_after(const OpenTensor& own,
                                                     const std::vector<OpenTensor>& open) const {
  const CapturedNode& captured = capture_.nodes[own.position];
  const NodeView view(captured.node);
  const std::vector<size_t> edges = batch_edges(own.position);
  TORCH_CHECK_NOT_IMPLEMENTED(edges.size() < 2 || is_constant(own.position),
                              options_.what,
                              " follows branches that a sum joins, but ",
                              view.name(),
                              " is not linear in them; use KFLR or the operators instead");
  JointLines next;
  for (const OpenTensor& other : open) next.add(other.position, 0, false, other.begin, other.size);
  for (const size_t e : edges) {
    TORCH_CHECK_NOT_IMPLEMENTED(captured.node->next_edge(e).input_nr == 0,
                                options_.what,
                                " follows ops with one output, but ",
                                view.name(),
                                " reads another one of ",
                                capture_.nodes[captured.next[e]].node->name(),
                                "; use KFLR or the operators instead");
    next.add(captured.next[e], e, true, own.begin, entries_per_sample(view.input_shape(e)));
  }
  return next;
}

// Takes the joint matrix through the op at `own`, whose own part of it is `matrix_`.
Tensor AveragedChain::joint_after(const OpenTensor& own,
                                  const JointLines& next,
                                  const Tensor& joint) {
  const bool has_one_input = batch_edges(own.position).size() == 1;
  Tensor result = at::zeros({next.count, next.count}, joint.options());
  for (const JointLines::Part& a : next.parts) {
    for (const JointLines::Part& b : next.parts) {
      Tensor part;
      if (!a.is_input && !b.is_input) {
        part = joint.narrow(0, a.from, a.size).narrow(1, b.from, b.size);
      } else if (!a.is_input) {
        part = mean_lines_through(
            own.position, b.edge, joint.narrow(0, a.from, a.size).narrow(1, own.begin, own.size));
      } else if (!b.is_input) {
        continue;  // the transpose of another part
      } else if (has_one_input) {
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
  return result;
}

// Returns rows without gradients, which hold what the parameters of a node are multiplied with.
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

}  // namespace flightdeck

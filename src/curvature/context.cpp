// SPDX-License-Identifier: MIT
#include "curvature/context.h"

#include <algorithm>

#include <ATen/ATen.h>

#include "rules/stacks.h"

namespace flightdeck {
namespace {

// Splitting the gradient of a batch norm by sample leaves rows that add up to it, but a column of
// one sample then moves the rows of all: squares of rows are not the curvature.
void check_uncoupled(const Capture& capture, const ContextOptions& options) {
  if (options.batch_norm != BatchNormPolicy::kSplitGradient) return;
  for (const CapturedNode& captured : capture.nodes) {
    if (captured.side != Side::kBatch || !captured.rule) continue;
    const NodeView view(captured.node);
    const bool is_coupled =
        captured.rule->input_layout(view, 0, captured.layout).kind == Layout::Kind::kCoupled;
    TORCH_CHECK_VALUE(!is_coupled,
                      "curvature: ",
                      view.name(),
                      " couples the samples, and kSplitGradient has no meaning for curvature; put "
                      "the layer in eval mode, or set options.batch_norm to kConstantStatistics");
  }
}

Capture capture_for(const Tensor& losses,
                    const Parameters& parameters,
                    const ContextOptions& options,
                    bool needs_rows) {
  GradientOptions own;
  own.batch_norm = options.batch_norm;
  own.shared_terms = options.shared_terms;
  own.batch_size = options.batch_size;
  own.reduction = options.reduction;
  Capture capture = capture_graph(losses, parameters, own);
  if (needs_rows) {
    throw_refusals(capture);
    check_uncoupled(capture, options);
  }
  check_samples(capture, options.samples, "curvature", "samples");
  return capture;
}

}  // namespace

CurvatureContext::CurvatureContext(const Tensor& losses,
                                   const Parameters& parameters,
                                   const ContextOptions& options,
                                   bool needs_rows)
    : losses_(losses),
      parameters_(parameters),
      options_(options),
      capture_(capture_for(losses, parameters, options, needs_rows)),
      linearisation_(capture_),
      count_(options.samples.empty() ? capture_.N : static_cast<int64_t>(options.samples.size())),
      remarks_(capture_.remarks) {
  if (needs_rows) {
    remarks_.insert(remarks_.end(), capture_.row_remarks.begin(), capture_.row_remarks.end());
  }
  const bool is_mean = capture_.is_scalar && options.reduction == Reduction::kMean;
  scale_ = is_mean ? static_cast<double>(capture_.N) : 1.0;
}

int64_t scratch_for(const Parameters& parameters, int64_t bytes) {
  constexpr int64_t kCudaFactor = 8;
  return parameters[0].tensor.is_cpu() ? bytes : kCudaFactor * bytes;
}

const Loss& CurvatureContext::loss() {
  if (!loss_) {
    loss_ = std::make_unique<Loss>(find_loss(linearisation_, losses_, options_.outputs, scale_));
    remarks_.insert(remarks_.end(), loss_->remarks.begin(), loss_->remarks.end());
  }
  return *loss_;
}

void CurvatureContext::remark_one_by_one() {
  for (const std::string& name : linearisation_.one_by_one()) {
    const std::string text = name + " has no rule for stacks and was applied column by column";
    if (std::find(remarks_.begin(), remarks_.end(), text) == remarks_.end()) {
      remarks_.push_back(text);
    }
  }
}

std::vector<Seed> CurvatureContext::gradient_seeds() {
  if (capture_.shared_terms.empty() && capture_.couplings.empty()) return loss().gradients();
  const auto& root = *capture_.nodes[0].node;
  const Tensor seed = at::full(with_lead(1, compat::shape_of(root, capture_.root_output)),
                               scale_,
                               root.input_metadata(capture_.root_output).options());
  const Layout layout = capture_.is_scalar ? Layout() : Layout::batch(capture_.N, 0);
  return {{0, capture_.root_output, seed, layout}};
}

std::vector<bool> CurvatureContext::below_heads() {
  std::vector<bool> is_below(capture_.nodes.size(), false);
  for (const LossHead& head : loss().heads) is_below[head.position] = true;
  for (size_t k = 0; k < capture_.nodes.size(); ++k) {
    if (!is_below[k]) continue;
    for (int64_t next : capture_.nodes[k].next) {
      if (next >= 0) is_below[next] = true;
    }
  }
  return is_below;
}

bool CurvatureContext::knows_loss() {
  try {
    loss();
    return true;
  } catch (const c10::NotImplementedError&) {
    return false;
  }
}

}  // namespace flightdeck

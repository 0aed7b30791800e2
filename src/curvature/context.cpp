// SPDX-License-Identifier: MIT
#include "curvature/context.h"

#include <algorithm>

#include <ATen/ATen.h>

#include "rules/stacks.h"

namespace flightdeck {
namespace {

// Splitting the gradient of a batch norm by sample leaves rows that add up to it, but a column of
// one sample then moves the rows of all: squares of rows are not the curvature.
void check_uncoupled(const Capture& capture, BatchNormPolicy policy) {
  TORCH_CHECK_VALUE(policy != BatchNormPolicy::kSplitGradient || capture.coupled_layers.empty(),
                    "curvature: ",
                    capture.coupled_layers.empty() ? "" : capture.coupled_layers.front().op,
                    " couples the samples, and kSplitGradient has no meaning for curvature; put "
                    "the layer in eval mode, or set options.batch_norm to kConstantStatistics");
}

MemoryLimits limits_for(const Parameters& parameters, MemoryLimits limits) {
  constexpr int64_t kCudaFactor = 8;
  if (!parameters[0].tensor.is_cpu()) limits.scratch_bytes *= kCudaFactor;
  return limits;
}

}  // namespace

CurvatureContext::CurvatureContext(const Batch& batch, CurvatureFrom from)
    : batch_(batch),
      capture_(capture_of(batch)),
      batch_norm_(from == CurvatureFrom::kRows ? batch.options().batch_norm
                                               : BatchNormPolicy::kSplitGradient),
      memory_(limits_for(batch.parameters(), batch.options().memory)),
      linearisation_(*capture_, batch_norm_),
      count_(samples().empty() ? capture_->N : static_cast<int64_t>(samples().size())),
      remarks_(capture_->remarks) {
  check_visible(*capture_);
  check_scalar(*capture_);
  if (from == CurvatureFrom::kRows) {
    throw_refusals(*capture_, batch_norm_);
    check_uncoupled(*capture_, batch_norm_);
    for (std::string& text : row_remarks(*capture_, batch_norm_)) {
      remarks_.push_back(std::move(text));
    }
  }
  check_samples(*capture_, samples(), "curvature", "samples");
  const bool is_mean = capture_->is_scalar && batch.options().reduction == Reduction::kMean;
  scale_ = is_mean ? static_cast<double>(capture_->N) : 1.0;
}

const Loss& CurvatureContext::loss() {
  if (!loss_) {
    loss_ = std::make_unique<Loss>(
        find_loss(linearisation_, losses(), batch_.options().outputs, scale_));
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
  if (capture_->shared_terms.empty() && capture_->couplings.empty()) return loss().gradients();
  return seeds_at_losses();
}

std::vector<Seed> CurvatureContext::seeds_at_losses() const {
  const auto& root = *capture_->nodes[0].node;
  const Tensor seed = at::full(with_lead(1, compat::shape_of(root, capture_->root_output)),
                               scale_,
                               root.input_metadata(capture_->root_output).options());
  const Layout layout = capture_->is_scalar ? Layout() : Layout::batch(capture_->N, 0);
  return {{0, capture_->root_output, seed, layout}};
}

std::vector<bool> CurvatureContext::below_heads() {
  std::vector<bool> is_below(capture_->nodes.size(), false);
  for (const LossHead& head : loss().heads) is_below[head.position] = true;
  for (size_t k = 0; k < capture_->nodes.size(); ++k) {
    if (!is_below[k]) continue;
    for (int64_t next : capture_->nodes[k].next) {
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

// SPDX-License-Identifier: MIT
#include "conformance/dense_facts.h"

#include <torch/torch.h>

#include "curvature/dense_oracle.h"
#include "oracle.h"
#include "tensors.h"

namespace flightdeck::tests {
namespace {

// Derivatives [M] of a scalar by tensors with M entries in all, with a graph of their own. What
// cannot be differentiated by has zeros.
Tensor gradient(const Tensor& scalar, const std::vector<Tensor>& by, bool keeps_graph) {
  std::vector<Tensor> active;
  for (const Tensor& tensor : by) {
    if (tensor.requires_grad()) active.push_back(tensor);
  }
  std::vector<Tensor> found(active.size());
  if (scalar.requires_grad()) {
    found = torch::autograd::grad({scalar}, active, {}, true, keeps_graph, true);
  }
  std::vector<Tensor> parts;
  auto next = found.begin();
  for (const Tensor& tensor : by) {
    const Tensor part = tensor.requires_grad() ? *next++ : Tensor();
    // Times one: a slice of the joined gradient would have an offset that view_as_complex refuses.
    const Tensor own = part.defined() ? part * 1.0 : at::zeros_like(tensor);
    parts.push_back(own.flatten().to(at::kDouble));
  }
  return at::cat(parts);
}

// Lines of derivatives of a vector, [its length, M].
Tensor derivatives(const Tensor& vector, const std::vector<Tensor>& by) {
  std::vector<Tensor> lines;
  for (int64_t i = 0; i < vector.numel(); ++i) {
    lines.push_back(gradient(vector[i], by, false).detach());
  }
  return at::stack(lines);
}

}  // namespace

DenseFacts::DenseFacts(uint64_t seed,
                       const AdverseModel& model,
                       SharedTerms shared,
                       const std::vector<int64_t>& samples)
    : twin_(adverse_model(seed, model.parameters, /*is_twin=*/true)), cut_{twin_.outputs} {
  terms_ = twin_.terms_with(shared);
  if (!samples.empty()) {
    terms_ = terms_.index_select(0, at::tensor(samples, at::kLong).to(test_device()));
  }
  for (const NamedParameter& parameter : twin_.parameters) leaves_.push_back(parameter.tensor);
  cut_.insert(cut_.end(), twin_.bypasses.begin(), twin_.bypasses.end());

  std::vector<Tensor> lines;
  for (int64_t n = 0; n < terms_.size(0); ++n) {
    lines.push_back(gradient(terms_[n], leaves_, false).detach());
  }
  rows = at::stack(lines);
  const Tensor loss = terms_.mean();
  hessian = derivatives(gradient(loss, leaves_, true), leaves_);

  lines.clear();
  for (const Tensor& tensor : cut_) lines.push_back(derivatives(tensor.flatten(), leaves_));
  jacobian_ = at::cat(lines);
  const Tensor loss_hessian = derivatives(gradient(loss, cut_, true), cut_);
  ggn = jacobian_.t().matmul(loss_hessian).matmul(jacobian_);
  const int64_t count = twin_.outputs.numel();
  const Tensor lead = jacobian_.slice(0, 0, count);
  outputs_ggn = lead.t().matmul(loss_hessian.slice(0, 0, count).slice(1, 0, count)).matmul(lead);
}

Tensor DenseFacts::fisher() const { return rows.t().matmul(rows) / static_cast<double>(N()); }

Tensor DenseFacts::hessian_diagonals() const {
  std::vector<Tensor> lines;
  for (int64_t n = 0; n < N(); ++n) {
    lines.push_back(derivatives(gradient(terms_[n], leaves_, true), leaves_).diagonal());
  }
  return at::stack(lines);
}

Tensor DenseFacts::positive_ggn() const {
  Tensor sum = at::zeros_like(ggn);
  for (int64_t n = 0; n < N(); ++n) {
    const Tensor hessian = derivatives(gradient(terms_[n], cut_, true), cut_);
    sum += jacobian_.t().matmul(positive_part(hessian)).matmul(jacobian_);
  }
  return sum / static_cast<double>(N());
}

double second_order_tolerance(const AdverseModel& model) {
  return model.narrowest == at::kDouble ? 1e-8 : 5e-3;
}

}  // namespace flightdeck::tests

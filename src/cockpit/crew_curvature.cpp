// SPDX-License-Identifier: MIT
#include "cockpit/crew_curvature.h"

#include <ATen/ATen.h>

#include "cockpit/over_ranks.h"

namespace flightdeck {

JointCurvature::JointCurvature(const Parameters& parameters,
                               const CurvaturePass& pass,
                               const Curvature* own,
                               int64_t samples)
    : parameters_(parameters), pass_(pass), own_(own), samples_(own ? samples : 0) {}

void JointCurvature::add(Packet& packet) {
  weight_ = packet.add(1, at::full({1}, static_cast<double>(samples_), at::kDouble));
  for (size_t p = 0; p < parameters_.size(); ++p) {
    for (const CurvatureSum& sum : curvature_sums()) {
      if (!pass_.needs.has(sum.need)) continue;
      const int64_t numel = sum.is_trace ? 1 : parameters_[p].tensor.numel();
      Tensor own;
      if (own_ && (own_->parameters[p].*sum.field).defined()) {
        own = (own_->parameters[p].*sum.field).detach().reshape({-1}).to(at::kDouble) *
              static_cast<double>(samples_);
      }
      entries_.push_back(packet.add(numel, own));
    }
  }
}

std::optional<Curvature> JointCurvature::take(const Packet& packet) const {
  const double weight = packet.numbers(weight_)[0];
  if (weight == 0) return std::nullopt;
  Curvature all;
  all.batch_size = static_cast<int64_t>(weight);
  if (own_) all.coverage = own_->coverage;
  size_t next = 0;
  for (const NamedParameter& parameter : parameters_) {
    ParameterCurvature& out = all.parameters.emplace_back();
    out.name = parameter.name;
    const auto options = parameter.tensor.options().requires_grad(false);
    for (const CurvatureSum& sum : curvature_sums()) {
      if (!pass_.needs.has(sum.need)) continue;
      const Tensor mean = (packet.get(entries_[next++]) / weight).to(options);
      out.*sum.field = sum.is_trace ? mean.reshape({}) : mean.view(parameter.tensor.sizes());
      if (!sum.is_trace) continue;
      Tensor& total = all.total.*sum.field;
      total = total.defined() ? total + out.*sum.field : out.*sum.field;
    }
  }
  return all;
}

}  // namespace flightdeck

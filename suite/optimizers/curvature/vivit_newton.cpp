// SPDX-License-Identifier: MIT
#include "suite/optimizers/curvature/vivit_newton.h"

#include <numeric>

namespace flightdeck::suite {
namespace {

std::vector<std::vector<size_t>> groups_of(size_t parameters, bool is_each_alone) {
  std::vector<size_t> all(parameters);
  std::iota(all.begin(), all.end(), size_t{0});
  if (!is_each_alone) return {all};
  std::vector<std::vector<size_t>> alone;
  for (const size_t one : all) alone.push_back({one});
  return alone;
}

}  // namespace

std::vector<Field> VivitStepOptions::fields() {
  return {searched(rate_field(learning_rate), one_of({1e-4, 1e-3, 1e-2, 1e-1, 1.0})),
          searched(positive("damping", "added to the eigenvalues", damping),
                   one_of({1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0})),
          yes_or_no("sampled", "1: would-be gradients instead of the exact loss Hessian", sampled),
          whole(positive("mc_samples", "would-be gradients per sample, if sampled", mc_samples)),
          whole(not_negative("curvature_samples",
                             "samples that the GGN is taken from, the first; 0: all",
                             curvature_samples)),
          yes_or_no("by_parameter", "1: each parameter has a GGN of its own", by_parameter),
          yes_or_no("trivial", "1: also descend where the GGN is flat", trivial)};
}

std::vector<std::vector<Tensor>> VivitStepOptions::measure(const Observation& observation) const {
  const size_t count = observation.parameters.size();
  for (size_t i = 0; i < count; ++i) {
    TORCH_CHECK_VALUE(observation.l2[i] == 0.0,
                      name(),
                      ": the objective has a penalty of strength ",
                      observation.l2[i],
                      " on '",
                      observation.parameters[i].name,
                      "', but the step is made of the gradients of the losses alone; use hbp_ggn, "
                      "or a problem without a penalty");
  }
  VivitOptions options;
  options.columns = sampled != 0 ? LossColumns::kSampled : LossColumns::kExact;
  options.mc_samples = static_cast<int64_t>(mc_samples);
  options.seed = observation.seed;
  options.groups = groups_of(count, by_parameter != 0);
  Batch batch = observation.batch();
  // The first samples are as good as any, because batches are drawn anew in every epoch.
  const auto wanted = static_cast<int64_t>(curvature_samples);
  if (wanted > 0 && wanted < batch.size()) {
    std::vector<int64_t> first(wanted);
    std::iota(first.begin(), first.end(), int64_t{0});
    batch = batch.of(std::move(first));
  }
  const Vivit vivit(batch, options);
  std::vector<std::vector<Tensor>> all(count);
  for (size_t group = 0; group < options.groups.size(); ++group) {
    const Tensor added = dampings(vivit, group, observation.parameters[0].tensor.options());
    const std::vector<Tensor> steps = vivit.newton_step(added, -1, trivial != 0, group);
    for (size_t i = 0; i < steps.size(); ++i) all[options.groups[group][i]] = {steps[i].neg()};
  }
  return all;
}

Tensor VivitStepOptions::dampings(const Vivit&, size_t, const at::TensorOptions& like) const {
  return at::full({1}, damping, like.requires_grad(false));
}

namespace optimizers {
OptimizerEntry vivit_newton() {
  return curvature_entry_of<VivitNewtonOptions>("damped Newton step in the eigenspace of the GGN");
}
}  // namespace optimizers

}  // namespace flightdeck::suite

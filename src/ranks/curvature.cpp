// SPDX-License-Identifier: MIT
// Diagonals, traces and Kronecker factors of all ranks' samples.
#include "flightdeck/curvature.h"

#include <vector>

#include <ATen/ATen.h>

#include "flightdeck/ranks.h"

namespace flightdeck {
namespace {

void add_traces(ParameterCurvature& one, std::vector<Tensor*>& means) {
  for (Tensor* trace : {&one.trace_ggn, &one.trace_ggn_mc, &one.trace_hessian}) {
    if (trace->defined()) means.push_back(trace);
  }
}

void add_factors(KroneckerFactors& factors, std::vector<Tensor*>& means) {
  for (Tensor* factor : {&factors.output, &factors.input}) {
    if (factor->defined()) means.push_back(factor);
  }
  factors.output_basis = factors.input_basis = factors.corrected = Tensor();
}

// Returns what is a mean over samples, and drops the rest.
std::vector<Tensor*> keep_means(Curvature& curvature) {
  std::vector<Tensor*> means;
  for (ParameterCurvature& one : curvature.parameters) {
    for (Tensor* diagonal : {&one.diag_ggn, &one.diag_ggn_mc, &one.diag_hessian}) {
      if (diagonal->defined()) means.push_back(diagonal);
    }
    add_traces(one, means);
    add_factors(one.kfac, means);
    add_factors(one.kflr, means);
    one.kfra = KroneckerFactors();
    one.diag_ggn_per_sample = one.diag_ggn_mc_per_sample = one.diag_hessian_per_sample = Tensor();
  }
  add_traces(curvature.total, means);
  return means;
}

}  // namespace

Curvature over_ranks(const Curvature& own, Ranks& ranks) {
  Curvature all = own;
  const std::vector<Tensor*> means = keep_means(all);
  const auto samples = static_cast<double>(own.batch_size);
  const auto doubles = at::TensorOptions(at::kDouble).device(ranks.device());
  std::vector<Tensor> parts = {at::full({1}, samples, doubles)};
  for (const Tensor* mean : means) {
    parts.push_back(mean->detach().reshape({-1}).to(doubles) * samples);
  }
  const Tensor packed = at::cat(parts);
  const Tensor size = at::full({1}, static_cast<double>(packed.numel()), doubles);
  const Tensor sizes = at::cat({size, -size});
  const Tensor largest = ranks.max(sizes);
  TORCH_CHECK_VALUE(largest[0].item<double>() == -largest[1].item<double>(),
                    "over_ranks: a rank has ",
                    -largest[1].item<int64_t>(),
                    " numbers of curvature and another ",
                    largest[0].item<int64_t>(),
                    "; ask for the same of the same model on all ranks");
  const Tensor sums = ranks.sum(packed);
  const auto N = sums[0].item<double>();
  TORCH_CHECK_VALUE(N > 0, "over_ranks: no rank has a sample");
  all.batch_size = static_cast<int64_t>(N);
  int64_t begin = 1;
  for (Tensor* mean : means) {
    const int64_t numel = mean->numel();
    *mean = (sums.narrow(0, begin, numel) / N).to(mean->options()).view(mean->sizes());
    begin += numel;
  }
  return all;
}

}  // namespace flightdeck

// SPDX-License-Identifier: MIT
#include "cockpit/step_histograms.h"

#include <algorithm>

#include <ATen/ATen.h>

namespace flightdeck {
namespace {

template <typename Counted>
Tensor by_group(const StepView& step,
                const std::vector<Counted>& all_counted,
                const Counted& bins,
                std::vector<Tensor> ParameterGradients::*field,
                const char* what) {
  const auto found = std::find(all_counted.begin(), all_counted.end(), bins);
  TORCH_CHECK(found != all_counted.end(),
              "step view: no ",
              what,
              " with these bins was counted; name it in the needs");
  const auto position = static_cast<size_t>(found - all_counted.begin());
  std::vector<Tensor> counts;
  for (const ParameterGradients& parameter : step.gradients().parameters) {
    const std::vector<Tensor>& own = parameter.*field;
    // There are no counts of a parameter that the backward pass did not reach.
    TORCH_CHECK(position < own.size(),
                "step view: there is no histogram of '",
                parameter.name,
                "' because the backward pass did not reach all of its uses; watch only parameters "
                "that it reaches");
    counts.push_back(own[position]);
  }
  return step.group_sums(counts).to(at::kLong);
}

}  // namespace

Tensor histogram_by_group(const StepView& step,
                          const std::vector<Bins>& counted,
                          const Bins& bins) {
  return by_group(step, counted, bins, &ParameterGradients::histograms, "histogram");
}

Tensor joint_histogram_by_group(const StepView& step,
                                const std::vector<JointBins>& counted,
                                const JointBins& bins) {
  return by_group(step, counted, bins, &ParameterGradients::joint_histograms, "joint histogram");
}

}  // namespace flightdeck

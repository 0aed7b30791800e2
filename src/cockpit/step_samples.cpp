// SPDX-License-Identifier: MIT
#include "cockpit/step_samples.h"

#include <algorithm>

#include <ATen/ATen.h>

namespace flightdeck {
namespace {

constexpr int64_t kMostNamed = 8;

Tensor checked(const Tensor& told, const char* name, int64_t N) {
  if (!told.defined()) return {};
  TORCH_CHECK_VALUE(at::isIntegralType(told.scalar_type(), /*includeBool=*/false),
                    "watch: ",
                    name,
                    " has type ",
                    told.scalar_type(),
                    "; give integers");
  TORCH_CHECK_VALUE(told.dim() == 1 && told.size(0) == N,
                    "watch: ",
                    name,
                    " has shape ",
                    told.sizes(),
                    " but the batch has ",
                    N,
                    " samples; give one integer per sample, [",
                    N,
                    "]");
  return told.detach();
}

int64_t at_place(const Tensor& numbers, int64_t place) { return numbers[place].item<int64_t>(); }

// Returns for instance "sample 4711 (place 5 of the batch, label 3, predicted 8)".
std::string name_of(const StepSamples& samples, int64_t place) {
  const std::string where = "place " + std::to_string(place) + " of the batch";
  std::string facts = samples.ids.defined() ? where : "";
  const auto add = [&facts](const std::string& fact) {
    facts += (facts.empty() ? "" : ", ") + fact;
  };
  if (samples.labels.defined()) add("label " + std::to_string(at_place(samples.labels, place)));
  if (samples.predictions.defined()) {
    add("predicted " + std::to_string(at_place(samples.predictions, place)));
  }
  const std::string name =
      samples.ids.defined() ? "sample " + std::to_string(at_place(samples.ids, place)) : where;
  return facts.empty() ? name : name + " (" + facts + ")";
}

}  // namespace

StepSamples told_samples(const StepOptions& options, int64_t N) {
  return {{},
          checked(options.sample_ids, "sample_ids", N),
          checked(options.labels, "labels", N),
          checked(options.predictions, "predictions", N)};
}

std::string not_finite_text(const StepSamples& samples) {
  if (!samples.losses.defined()) return "";
  const int64_t N = samples.losses.numel();
  const Tensor places = at::isfinite(samples.losses).logical_not().nonzero().flatten().cpu();
  const int64_t count = places.numel();
  if (count == 0 || count == N) return "";
  std::string text = "the losses of " + std::to_string(count) + " of " + std::to_string(N) +
                     " samples are not finite: ";
  const int64_t named = std::min(count, kMostNamed);
  for (int64_t k = 0; k < named; ++k) {
    text += (k == 0 ? "" : "; ") + name_of(samples, at_place(places, k));
  }
  return named < count ? text + "; and " + std::to_string(count - named) + " more" : text;
}

}  // namespace flightdeck

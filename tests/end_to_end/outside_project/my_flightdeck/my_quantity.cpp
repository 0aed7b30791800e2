// SPDX-License-Identifier: MIT
#include <torch/torch.h>

#include <flightdeck/quantity.h>

namespace {

flightdeck::Quantity my_quantity(flightdeck::Settings& settings) {
  const double least = settings.number("least", 0, "an entry below it counts as zero");
  return flightdeck::Quantity("my_quantity")
      .summary("Share of the gradient's entries that are not zero")
      .cost(flightdeck::Cost::kFirstOrder)
      .needs(flightdeck::Need::kMean)
      .compute([least](const flightdeck::StepView& step) -> flightdeck::Value {
        torch::Tensor count = torch::zeros({}, torch::kLong);
        int64_t entries = 0;
        for (const auto& parameter : step.gradients().parameters) {
          count = count + (parameter.mean.abs() > least).sum();
          entries += parameter.mean.numel();
        }
        return count.to(torch::kDouble) / static_cast<double>(entries);
      });
}

const bool kHasMyQuantity = flightdeck::register_quantity(&my_quantity);

}  // namespace

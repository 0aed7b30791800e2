// SPDX-License-Identifier: MIT
// The samples with the largest individual gradients: wrong labels, broken inputs, hard cases.
#include <algorithm>

#include <ATen/ATen.h>

#include "flightdeck/quantity.h"

namespace flightdeck::quantities {

Quantity sample_outliers(Settings& settings) {
  const int64_t count = settings.integer("count", 5, "how many samples are listed", 1);
  return Quantity("sample_outliers")
      .summary("Largest individual gradient norm over the median; who the largest are, as lists")
      .reference("max_n ||g_n|| / median_n ||g_n||; beyond the papers")
      .needs(Need::kNorms)
      .cost(Cost::kFirstOrder)
      .has_groups(true)
      .reads_numbers(true)
      .compute([count](const StepView& step) {
        const int64_t N = step.batch_size();
        const auto [norms, order] = step.squared_norms().sqrt().sort(1, /*descending=*/true);
        const Tensor median = (norms.select(1, (N - 1) / 2) + norms.select(1, N / 2)) / 2;
        const int64_t listed = std::min(count, N);
        Value value(norms.select(1, 0) / median);
        value.with_list("samples", order[0].slice(0, 0, listed).to(at::kDouble));
        value.with_list("norms", norms[0].slice(0, 0, listed));
        const Tensor places = order[0].slice(0, 0, listed);
        const auto add_told = [&](const char* field, const Tensor& told) {
          if (!told.defined()) return;
          // The list moves to the places' device; the other way round would wait for it.
          const Tensor chosen = told.to(places.device()).index_select(0, places);
          value.with_list(field, chosen.to(at::kDouble));
        };
        add_told("ids", step.sample_ids());
        add_told("labels", step.labels());
        add_told("predictions", step.predictions());
        return value;
      });
}

}  // namespace flightdeck::quantities

// SPDX-License-Identifier: MIT
// Histogram of all entries of all individual gradients.
#include <algorithm>

#include <ATen/ATen.h>

#include "quantities/adaptive_range.h"

namespace flightdeck::quantities {
namespace {

// Entries outside the range are counted apart: the reference implementation has them in the end
// bins.
Value counts_of(const StepView& step, const Bins& bins) {
  const Tensor raw = step.histogram(bins);  // [G, count + 3]: below, bins, above, NaN
  Value value;
  if (raw.is_cpu()) {
    const int64_t groups = raw.size(0), size = bins.count + 3;
    const Tensor counts = at::empty({groups, bins.count}, at::kDouble);
    const Tensor outside = at::empty({groups, 3}, at::kDouble);
    for (int64_t g = 0; g < groups; ++g) {
      const int64_t* from = raw.data_ptr<int64_t>() + g * size;
      double* end = outside.data_ptr<double>() + g * 3;
      *end++ = static_cast<double>(from[0]);
      std::copy_n(from + 1, bins.count, counts.data_ptr<double>() + g * bins.count);
      std::copy_n(from + 1 + bins.count, 2, end);
    }
    return value.with_histogram("", {bins}, counts, outside);
  }
  const Tensor outside = at::cat({raw.slice(1, 0, 1), raw.slice(1, bins.count + 1)}, 1);
  value.with_histogram("", {bins}, raw.slice(1, 1, bins.count + 1), outside);
  return value;
}

Quantity::Functions adapting(const Bins& initial, const AdaptiveRange& range) {
  auto bins = std::make_shared<Bins>(initial);
  Quantity::Functions functions;
  functions.needs = [bins] {
    StepNeeds needs;
    needs.gradients = Need::kIndividual;
    needs.histograms = {*bins};
    return needs;
  };
  functions.share = [](const StepView& step) -> std::vector<Tensor> {
    return {at::full({1}, largest_gradient_entry(step), at::kDouble)};
  };
  functions.compute = [bins, range](const StepView& step) {
    Value value = counts_of(step, *bins);
    *bins = range.adapt(*bins, step.shared()[0].amax().item<double>());
    return value;
  };
  functions.save = [bins] { return std::vector<double>{bins->low, bins->high}; };
  functions.load = [bins](const std::vector<double>& saved) {
    bins->low = saved.at(0);
    bins->high = saved.at(1);
  };
  return functions;
}

}  // namespace

Quantity grad_hist_1d(Settings& settings) {
  Bins bins;
  bins.count = settings.integer("bins", bins.count, "number of bins", 1);
  bins.low = settings.number("low", bins.low, "lower end of the range");
  bins.high = settings.number("high", bins.high, "upper end of the range");
  const bool adapts =
      settings.choice("adapt", {"none", "gradients"}, "range from the last tracked step") != "none";
  AdaptiveRange range;
  range.padding = read_padding(settings, "");
  range.min_size = settings.number("min_size", range.min_size, "adapted ranges: smallest width");
  check_range("grad_hist_1d", bins);

  Quantity quantity("grad_hist_1d");
  quantity.summary("Histogram of the entries of all individual gradients")
      .reference("C.3.4, equation C.12; entries outside the range counted apart")
      .cost(Cost::kFirstOrder)
      .has_groups(true);
  if (adapts) return quantity.make([bins, range] { return adapting(bins, range); });
  StepNeeds needs;
  needs.histograms = {bins};
  return quantity.needs(needs).reads_numbers(true).compute(
      [bins](const StepView& step) { return counts_of(step, bins); });
}

}  // namespace flightdeck::quantities

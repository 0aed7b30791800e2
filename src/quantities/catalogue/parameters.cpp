// SPDX-License-Identifier: MIT
// The parameters' values, summed up: norm, mean, standard deviation and largest magnitude; some or
// all of the entries themselves, if asked for.
#include <algorithm>

#include <ATen/ATen.h>

#include "flightdeck/quantity.h"
#include "quantities/entry_stats.h"
#include "rows/gpu_tables.h"

namespace flightdeck::quantities {
namespace {

Tensor group_maxima(const StepView& step, const std::vector<Tensor>& per_parameter) {
  std::vector<Tensor> maxima;
  for (const auto& members : step.groups().members) {
    std::vector<Tensor> of_group;
    for (size_t p : members) of_group.push_back(per_parameter[p]);
    maxima.push_back(at::stack(of_group).amax());
  }
  return at::stack(maxima).to(at::kDouble);
}

// Picks `count` entries of all parameters taken as one vector of D, entry i at place
// floor(i D / count): the same ones at every step, and all if count is D or more.
Tensor spread_entries(const StepView& step, int64_t count) {
  int64_t D = 0;
  for (const NamedParameter& parameter : step.parameters()) D += parameter.tensor.numel();
  count = std::min(count, D);
  std::vector<Tensor> chosen;
  int64_t first = 0;  // place of the parameter's first entry
  int64_t next = 0;   // entry of the list that comes next
  for (const NamedParameter& parameter : step.parameters()) {
    const int64_t last = first + parameter.tensor.numel();
    std::vector<int64_t> places;
    for (; next < count && next * D / count < last; ++next) {
      places.push_back(next * D / count - first);
    }
    first = last;
    if (places.empty()) continue;
    const Tensor values = parameter.tensor.detach().flatten();
    chosen.push_back(
        values.index_select(0, at::tensor(places, at::kLong).to(values.device())).to(at::kDouble));
  }
  return at::cat(chosen);
}

struct EntrySizes {
  Tensor sum, square, magnitude;  // [], in double
};

EntrySizes sizes_of(const Tensor& values) {
  const bool is_swept = values.is_cpu() && !runs_behind(values) && values.numel() > 0 &&
                        at::isFloatingType(values.scalar_type()) &&
                        values.scalar_type() != at::kHalf;
  if (is_swept) {
    const Tensor stats = entry_stats(values, {});
    // Ranges leave out what is not finite, and magnitudes do not.
    if (stats.accessor<double, 1>()[kEntriesNotFinite] == 0) {
      return {stats[kEntrySum], stats[kEntrySquares], largest_magnitude(stats)};
    }
  }
  return {values.sum(at::kDouble),
          values.norm(2, at::kDouble).square(),
          values.abs().amax().to(at::kDouble)};
}

Value parameters_value(const StepView& step, int64_t values_listed) {
  std::vector<Tensor> sums, squares, magnitudes;
  for (const NamedParameter& parameter : step.parameters()) {
    const EntrySizes sizes = sizes_of(parameter.tensor.detach().flatten());
    sums.push_back(sizes.sum);
    squares.push_back(sizes.square);
    magnitudes.push_back(sizes.magnitude);
  }
  const Tensor sizes = step.group_sizes();
  const Tensor square = step.group_sums(squares);
  const Tensor mean = step.group_sums(sums) / sizes;
  Value value(square.sqrt());
  value.with("mean", mean);
  value.with("deviation", (square / sizes - mean.square()).clamp_min(0).sqrt());
  value.with("abs_max", group_maxima(step, magnitudes));
  if (values_listed > 0) value.with_list("values", spread_entries(step, values_listed));
  return value;
}

}  // namespace

Quantity parameters(Settings& settings) {
  const int64_t values = settings.integer(
      "values", 0, "entries recorded as they are, spread evenly; all if that many");
  return Quantity("parameters")
      .summary("Norm of the parameters; mean, deviation and largest magnitude as fields")
      .reference("theta_k; the reference implementation stores every entry")
      .has_groups(true)
      .reads_parameters(true)
      .compute([values](const StepView& step) { return parameters_value(step, values); });
}

}  // namespace flightdeck::quantities

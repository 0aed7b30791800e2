// SPDX-License-Identifier: MIT
#include "run/final_parameters.h"

#include <algorithm>
#include <string>

#include <ATen/ATen.h>

namespace flightdeck::run {
namespace {

constexpr int64_t kBins = 100;
constexpr size_t kMostModules = 200;

// Returns the name up to its last dot. A parameter without one belongs to the model itself and
// stands alone.
std::string module_of(const std::string& parameter) {
  const size_t dot = parameter.rfind('.');
  return dot == std::string::npos ? parameter : parameter.substr(0, dot);
}

Reading empty_histogram(const std::string& group, double reach) {
  Reading reading;
  reading.quantity = "final_parameters";
  reading.group = group;
  reading.kind = ReadingKind::kHistogram;
  reading.axes = {{-reach, reach, kBins}};
  reading.counts.assign(kBins, 0);
  return reading;
}

struct Entries {
  Tensor finite;  // in double: float32 does not count beyond 2^24
  int64_t not_finite = 0;
};

Entries entries_of(const NamedParameter& parameter) {
  Tensor values = parameter.tensor.detach().flatten();
  if (values.is_complex()) values = at::view_as_real(values).flatten();
  values = values.to(at::kDouble);
  Entries entries;
  entries.finite = values.masked_select(values.isfinite());
  entries.not_finite = values.numel() - entries.finite.numel();
  return entries;
}

double reach_of_entries(const Parameters& parameters) {
  double reach = 0;
  for (const NamedParameter& parameter : parameters) {
    const Tensor finite = entries_of(parameter).finite;
    if (finite.numel() > 0) reach = std::max(reach, finite.abs().amax().item<double>());
  }
  return reach;
}

void add_counts(const std::vector<int64_t>& counts, int64_t not_finite, Reading& histogram) {
  for (size_t bin = 0; bin < counts.size(); ++bin) histogram.counts[bin] += counts[bin];
  histogram.not_a_number += not_finite;
}

}  // namespace

std::vector<Reading> final_parameter_readings(const Parameters& parameters) {
  const at::NoGradGuard without_gradients;
  const double reach = reach_of_entries(parameters);
  if (reach == 0) return {};
  std::vector<Reading> readings = {empty_histogram("", reach)};
  for (const NamedParameter& parameter : parameters) {
    const Entries entries = entries_of(parameter);
    const Tensor bins = entries.finite.histc(kBins, -reach, reach).to(at::kCPU, at::kLong);
    const std::vector<int64_t> counts(bins.data_ptr<int64_t>(), bins.data_ptr<int64_t>() + kBins);
    add_counts(counts, entries.not_finite, readings[0]);
    const std::string module = module_of(parameter.name);
    const auto same = [&](const Reading& reading) { return reading.group == module; };
    auto found = std::find_if(readings.begin() + 1, readings.end(), same);
    if (found == readings.end()) {
      if (readings.size() > kMostModules) continue;
      readings.push_back(empty_histogram(module, reach));
      found = readings.end() - 1;
    }
    add_counts(counts, entries.not_finite, *found);
  }
  return readings;
}

}  // namespace flightdeck::run

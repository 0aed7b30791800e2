// SPDX-License-Identifier: MIT
// Parts of the model that no gradient reaches any more while others are still trained.
#include <algorithm>
#include <string>

#include "flightdeck/lamp.h"

namespace flightdeck::lamps {
namespace {

constexpr int64_t kGradientStretches = 8;
// Named one by one; of more the count says enough.
constexpr size_t kNamedGroups = 4;

// The gradient was exactly zero at all of the last tracked steps, two of them at least.
bool is_cut_off(const RunReader& run, const SeriesInfo& series) {
  if (series.count < 2) return false;
  const std::vector<NumberStretch> all = run.stretches(series.id, {}, kGradientStretches);
  for (size_t k = all.size() - std::min<size_t>(all.size(), 2); k < all.size(); ++k) {
    if (!(all[k].min == 0 && all[k].max == 0)) return false;
  }
  return !all.empty();
}

}  // namespace

Lamp no_gradient() {
  Lamp lamp;
  lamp.name = "no_gradient";
  lamp.summary = "The gradient of some groups is exactly zero while others are trained";
  lamp.severity = Severity::kWarning;
  lamp.reads = {"grad_norm"};
  lamp.look = [](const LampView& view) -> std::vector<Finding> {
    std::string named;
    size_t cut_off = 0, groups = 0;
    int64_t step = -1;
    for (const SeriesInfo& series : view.run.series()) {
      const bool is_of_group = series.quantity == "grad_norm" && series.field.empty() &&
                               !series.group.empty() && series.kind == ReadingKind::kNumber;
      if (!is_of_group) continue;
      ++groups;
      if (!is_cut_off(view.run, series)) continue;
      if (++cut_off <= kNamedGroups) named += (named.empty() ? "" : ", ") + series.group;
      step = series.last_step;
    }
    // Of a model without any gradient the whole is to be looked at, not its parts.
    if (cut_off == 0 || cut_off == groups) return {};
    if (cut_off > kNamedGroups) named += " and " + std::to_string(cut_off - kNamedGroups) + " more";
    Finding finding;
    finding.step = step;
    finding.quantity = "grad_norm";
    finding.symptom = "No gradient reaches a part of the model";
    finding.evidence = "The gradient of " + std::to_string(cut_off) + " of " +
                       std::to_string(groups) + " groups is exactly zero: " + named;
    finding.cause = "dead units behind it, a detached branch, or a loss that does not depend on it";
    finding.advice = "Look at dead_units and at what stands between these parameters and the loss";
    return {finding};
  };
  return lamp;
}

}  // namespace flightdeck::lamps

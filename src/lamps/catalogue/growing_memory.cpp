// SPDX-License-Identifier: MIT
#include <algorithm>

#include "lamps/fields.h"
#include "lamps/recent.h"

namespace flightdeck::lamps {

Lamp growing_memory() {
  constexpr double kMegabyte = 1 << 20;
  Lamp lamp;
  lamp.name = "growing_memory";
  lamp.summary = "The memory of the process grows from step to step";
  lamp.severity = Severity::kWarning;
  lamp.reads = {"step_times"};
  lamp.pictured = {{"step_times", "memory", {}}};
  lamp.waits_for = 100;
  lamp.false_alarms = 0.005;
  lamp.is_evidence = false;
  lamp.look = [](const LampView& view) -> std::vector<Finding> {
    const SeriesInfo* memory = view.find("step_times", "", "memory");
    if (!memory || memory->kind != ReadingKind::kNumber || memory->count < 100) return {};
    const std::vector<NumberStretch> all = view.run.stretches(memory->id, {}, 10);
    if (all.size() < 5) return {};
    // What is made once, at the start, is left out.
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 4);
    const NumberStretch &first = *begin, &last = all.back();
    const double grown = last.min - first.min;
    if (!(grown > 64 * kMegabyte && grown > 0.1 * first.min)) return {};
    const double usual = grown / static_cast<double>(all.end() - begin - 1);
    // The growth is steady if no part grows by less than a third of the mean.
    const bool is_steady =
        std::adjacent_find(begin, all.end(), [&](const NumberStretch& a, const NumberStretch& b) {
          return !(b.min - a.min > usual / 3);
        }) == all.end();
    if (!is_steady) return {};
    Finding finding;
    finding.step = last.last_step;
    finding.quantity = "step_times";
    finding.symptom = "Memory grows";
    const auto steps = static_cast<double>(last.first_step - first.first_step);
    finding.evidence = "The process grew from " + short_text(first.min / kMegabyte) + " to " +
                       short_text(last.min / kMegabyte) + " MB, by " +
                       short_text(grown / kMegabyte / steps) + " MB a step";
    finding.cause = "something of every step is kept: a loss with its graph, outputs in a list";
    finding.advice = "Keep numbers (item(), detach()) in the place of tensors that have a graph";
    return {finding};
  };
  return lamp;
}

}  // namespace flightdeck::lamps

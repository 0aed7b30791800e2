// SPDX-License-Identifier: MIT
// Looks at gradients and updates; `loss_spikes` looks at the loss.
#include "lamps/fields.h"
#include "lamps/recent.h"

namespace flightdeck::lamps {

Lamp spiking_updates() {
  constexpr double kLimit = 12;
  Lamp lamp;
  lamp.name = "spiking_updates";
  lamp.summary = "Four of 30 gradients or updates are over 12 deviations above their median";
  lamp.severity = Severity::kAdvice;
  lamp.reads = {"spikes"};
  lamp.pictured = {{"spikes", "grad_norm", {kLimit}}, {"spikes", "update", {}}};
  lamp.waits_for = 30;
  lamp.is_evidence = false;
  lamp.look = [](const LampView& view) -> std::vector<Finding> {
    for (const char* field : {"update", "grad_norm"}) {
      const Recent scores = recent_field(view, "spikes", field, 30);
      Finding finding;
      int64_t high = 0;
      for (const NumberPoint& point : scores.points) {
        if (!(point.value > kLimit)) continue;
        ++high;
        finding.step = point.step;
      }
      if (high < 4) continue;
      const bool is_update = field == std::string("update");
      finding.quantity = "spikes";
      finding.symptom = is_update ? "Updates jump" : "Gradients jump";
      finding.evidence =
          std::to_string(high) + " of the last 30 " + (is_update ? "updates" : "gradients") +
          " are over 12 deviations above their median length, the last one at step " +
          std::to_string(finding.step);
      finding.cause = "single batches or samples, or a learning rate at its limit";
      finding.advice =
          "Clip gradients at about their usual length, and look at the samples of that step";
      return {finding};
    }
    return {};
  };
  return lamp;
}

}  // namespace flightdeck::lamps

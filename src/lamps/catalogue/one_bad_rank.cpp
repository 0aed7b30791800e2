// SPDX-License-Identifier: MIT
#include <cmath>

#include "lamps/fields.h"
#include "lamps/recent.h"

namespace flightdeck::lamps {
namespace {

struct FirstBad {
  int64_t step = -1;
  std::vector<std::string> ranks;  // bad at that step
  bool is_of_all = false;
};

// Finds where the series of some ranks turned bad. A gradient that is finite again belongs to a
// step that a loss scale made too large and the loop left out, which has nothing to do with one
// rank.
FirstBad first_bad(const LampView& view, const std::string& quantity, bool has_to_stay) {
  FirstBad found;
  size_t ranks = 0;
  for (const SeriesInfo& series : view.series) {
    if (series.quantity != quantity || !series.field.empty()) continue;
    ++ranks;
    int64_t first = -1;
    for (const NumberPoint& point : view.run.numbers(series.id)) {
      const bool is_bad = !std::isfinite(point.value);
      if (is_bad && first < 0) first = point.step;
      if (!is_bad && has_to_stay) first = -1;
    }
    if (first < 0) continue;
    if (found.step < 0 || first < found.step) found = {first, {}, false};
    if (first == found.step) found.ranks.push_back(series.group);
  }
  found.is_of_all = found.ranks.size() == ranks;
  return found;
}

}  // namespace

Lamp one_bad_rank() {
  Lamp lamp;
  lamp.name = "one_bad_rank";
  lamp.summary = "Loss or gradient turned NaN or infinite on some ranks before it did on others";
  lamp.severity = Severity::kFailure;
  lamp.reads = {"rank_grad_norm", "rank_loss"};
  lamp.pictured = {{"rank_loss", "", {}}, {"rank_grad_norm", "", {}}};
  lamp.is_evidence = false;
  lamp.look = [](const LampView& view) -> std::vector<Finding> {
    const FirstBad losses = first_bad(view, "rank_loss", false);
    const FirstBad gradients = first_bad(view, "rank_grad_norm", true);
    const bool is_loss = losses.step >= 0 && (gradients.step < 0 || losses.step <= gradients.step);
    const FirstBad& first = is_loss ? losses : gradients;
    if (first.step < 0 || first.is_of_all) return {};
    Finding finding;
    finding.step = first.step;
    finding.quantity = is_loss ? "rank_loss" : "rank_grad_norm";
    finding.layers = first.ranks;
    finding.symptom = "Some ranks went bad before the others";
    finding.evidence = std::string("The ") + (is_loss ? "loss" : "gradient") + " of " +
                       listed(first.ranks) + " is not finite at step " +
                       std::to_string(first.step) + ", that of the other ranks is";
    finding.cause = "a sample of that rank, or its device: parameters are the same on all";
    finding.advice = "Look at the samples of that rank at this step; sample_ids name them";
    return {finding};
  };
  return lamp;
}

}  // namespace flightdeck::lamps

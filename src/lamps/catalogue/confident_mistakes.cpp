// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>

#include "lamps/fields.h"
#include "lamps/recent.h"

namespace flightdeck::lamps {
namespace {

// Returns true if there is one target for each sample. A text has one for every letter, and many of
// those cannot be known.
bool is_of_samples(const LampView& view) {
  const Recent targets = first_of_field(view, "logits", "targets", 1);
  const Recent samples = first_of_field(view, "inputs", "samples", 1);
  return !targets.points.empty() && !samples.points.empty() &&
         targets.points[0].value == samples.points[0].value;
}

// Returns true if the last quarter of the losses fell by less than 35 % of the quarter before.
bool has_stalled(const LampView& view, int64_t count) {
  const int64_t quarter = std::min<int64_t>(count / 4, 500);
  Recent last = recent_field(view, "loss", "", 2 * quarter), before = last;
  before.points.resize(quarter);
  last.points.erase(last.points.begin(), last.points.begin() + quarter);
  return before.median() - last.median() < 0.35 * before.median();
}

}  // namespace

Lamp confident_mistakes() {
  Lamp lamp;
  lamp.name = "confident_mistakes";
  lamp.summary = "The model is unsure on the whole, sure of some wrong classes, and learns no more";
  lamp.severity = Severity::kAdvice;
  lamp.reads = {"logits", "loss", "inputs"};
  lamp.pictured = {{"logits", "margin_smallest", {-1.6}}, {"logits", "confidence", {0.8}}};
  lamp.waits_for = 50;
  lamp.false_alarms = 0.005;
  lamp.look = [](const LampView& view) -> std::vector<Finding> {
    const Recent loss = recent_field(view, "loss", "", 20);
    const Recent confidence = recent_field(view, "logits", "confidence", 20);
    const Recent margin = recent_field(view, "logits", "margin_smallest", 20);
    const Recent uniform = first_of_field(view, "logits", "uniform_loss", 1);
    const bool has_all = !loss.points.empty() && !confidence.points.empty() &&
                         !margin.points.empty() && !uniform.points.empty();
    if (!has_all || loss.series.count < 50 || !is_of_samples(view)) return {};
    if (!(confidence.median() < 0.8) || !(margin.median() < -1.6)) return {};
    if (!(loss.median() > 0.25 * uniform.points[0].value) ||
        !has_stalled(view, loss.series.count)) {
      return {};
    }
    Finding finding;
    finding.step = margin.points.back().step;
    finding.quantity = "logits";
    finding.symptom = "Some samples contradict what the others teach";
    finding.evidence = "The mean confidence is " + percent_text(confidence.median()) +
                       ", and yet the worst sample of a batch has another class " +
                       short_text(std::exp(-margin.median())) + " times as likely as its own" +
                       margin.where();
    finding.cause = "labels that do not belong to their inputs, or inputs that say little";
    finding.advice = "Look at the samples with the largest losses and their labels";
    return {finding};
  };
  return lamp;
}

}  // namespace flightdeck::lamps

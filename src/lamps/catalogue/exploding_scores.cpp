// SPDX-License-Identifier: MIT
#include <algorithm>

#include "lamps/fields.h"
#include "lamps/recent.h"

namespace flightdeck::lamps {
namespace {

constexpr double kLimit = 50;

// Returns the layers whose scores are above the limit, from fields such as "largest:blocks.3".
std::vector<std::string> layers_above(const LampView& view, const std::string& beginning) {
  std::vector<std::string> layers;
  for (const Recent& last : recent(view, "attention", 1)) {
    const std::string& field = last.series.field;
    const bool is_layer = field.rfind(beginning + ":", 0) == 0;
    if (is_layer && last.points[0].value > kLimit) layers.push_back(field);
  }
  return layers;
}

}  // namespace

Lamp exploding_scores() {
  Lamp lamp;
  lamp.name = "exploding_scores";
  lamp.summary = "Attention scores are above 50 and twice what they began with";
  lamp.severity = Severity::kWarning;
  lamp.reads = {"attention"};
  // The largest score is known exactly, or a lower bound of it is.
  lamp.pictured = {{"attention", "largest", {kLimit}}, {"attention", "at_least", {}}};
  lamp.waits_for = 10;
  lamp.false_alarms = 0.005;
  lamp.is_evidence = false;
  lamp.look = [](const LampView& view) -> std::vector<Finding> {
    for (const char* field : {"largest", "at_least"}) {
      const Recent last = recent_field(view, "attention", field, 10);
      const Recent first = first_of_field(view, "attention", field, 3);
      if (last.points.empty() || !(last.median() > kLimit)) continue;
      if (!(last.median() > 2 * first.median())) continue;
      Finding finding;
      finding.step = last.points.back().step;
      finding.quantity = "attention";
      finding.layers = layers_above(view, field);
      finding.symptom = "Attention scores explode";
      finding.evidence = std::string("The largest score is ") +
                         (field == std::string("largest") ? "" : "at least ") +
                         short_text(last.median()) + last.where() + "; it began at " +
                         short_text(first.median());
      if (!finding.layers.empty()) finding.evidence += "; " + listed(finding.layers);
      finding.cause =
          "queries and keys that grow, by a learning rate that is too high for attention";
      finding.advice = "Normalise queries and keys, lower the learning rate, or warm it up longer";
      return {finding};
    }
    return {};
  };
  return lamp;
}

}  // namespace flightdeck::lamps

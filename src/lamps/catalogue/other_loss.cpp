// SPDX-License-Identifier: MIT
// This lamp is exact: the quantity logits finds no log-softmax and no logistic loss behind the
// losses, and says so in a remark.
#include <algorithm>

#include "lamps/fields.h"
#include "lamps/recent.h"

namespace flightdeck::lamps {

Lamp other_loss() {
  Lamp lamp;
  lamp.name = "other_loss";
  lamp.summary = "Samples have labels of classes, but the loss is no cross-entropy";
  lamp.severity = Severity::kWarning;
  lamp.reads = {"inputs", "wiring"};
  lamp.pictured = {{"inputs", "label_classes", {}}};
  lamp.false_alarms = 0.005;
  lamp.is_exact = true;
  lamp.look = [](const LampView& view) -> std::vector<Finding> {
    const bool has_classes = count_of(view, "inputs", "label_classes") > 0;
    const bool has_logits = count_of(view, "logits") > 0;
    const auto note = std::find_if(view.notes.begin(), view.notes.end(), [](const Note& one) {
      return one.kind == NoteKind::kRemark && one.quantity == "logits";
    });
    if (!has_classes || has_logits || note == view.notes.end()) return {};
    Finding finding;
    finding.step = note->step;
    finding.quantity = "logits";
    finding.symptom = "The loss is none for classes";
    finding.evidence =
        "The samples have labels of classes, but neither a log-softmax nor a logistic loss is "
        "behind the losses";
    finding.cause = "a loss for another kind of problem";
    finding.advice = "Use the cross-entropy of the outputs and the labels";
    return {finding};
  };
  return lamp;
}

}  // namespace flightdeck::lamps

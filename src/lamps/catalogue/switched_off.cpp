// SPDX-License-Identifier: MIT
#include <algorithm>

#include "flightdeck/lamp.h"
#include "lamps/notes.h"

namespace flightdeck::lamps {
namespace {

void describe_switched_off(const Note& note, Finding& finding) {
  const auto commas = std::count(note.quantity.begin(), note.quantity.end(), ',');
  const bool is_several = commas > 0;
  const std::string it = is_several ? "them" : "it";
  finding.symptom =
      is_several ? std::to_string(1 + commas) + " quantities were switched off: " + note.quantity
                 : (note.quantity.empty() ? "A quantity" : note.quantity) + " was switched off";
  finding.evidence = note.text + ". No values of " + (is_several ? "these" : "it") + " from step " +
                     std::to_string(note.step) + " on; the others go on";
  finding.advice = "Track " + it + " again after removing the cause, or leave " + it + " out";
}

}  // namespace

Lamp switched_off() {
  Lamp lamp;
  lamp.name = "switched_off";
  lamp.summary = "A quantity failed and gives no values any more";
  lamp.severity = Severity::kWarning;
  lamp.reads = {"notes"};
  lamp.is_evidence = false;
  lamp.look = for_notes(NoteKind::kSwitchedOff, &describe_switched_off);
  return lamp;
}

}  // namespace flightdeck::lamps

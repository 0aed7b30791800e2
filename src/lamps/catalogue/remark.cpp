// SPDX-License-Identifier: MIT
#include "flightdeck/lamp.h"
#include "lamps/notes.h"

namespace flightdeck::lamps {

Lamp remark() {
  Lamp lamp;
  lamp.name = "remark";
  lamp.summary = "The cockpit or the program around noted something a person should know";
  lamp.severity = Severity::kAdvice;
  lamp.reads = {"notes"};
  lamp.is_evidence = false;
  lamp.look = for_notes(NoteKind::kRemark, [](const Note& note, Finding& finding) {
    finding.symptom = "Remark";
    finding.evidence = about(note);
  });
  return lamp;
}

}  // namespace flightdeck::lamps

// SPDX-License-Identifier: MIT
#include "flightdeck/lamp.h"
#include "lamps/notes.h"

namespace flightdeck::lamps {

Lamp not_stored() {
  Lamp lamp;
  lamp.name = "not_stored";
  lamp.summary = "Values of some steps were lost to a failing disk";
  lamp.severity = Severity::kWarning;
  lamp.reads = {"notes"};
  lamp.is_evidence = false;
  lamp.look = for_notes(NoteKind::kNotStored, [](const Note& note, Finding& finding) {
    finding.symptom = "Values were not stored";
    finding.evidence = about(note);
    finding.advice = "Free some space on the disk of the run; training went on";
  });
  return lamp;
}

}  // namespace flightdeck::lamps

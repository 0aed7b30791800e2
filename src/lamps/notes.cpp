// SPDX-License-Identifier: MIT
#include "lamps/notes.h"

#include <utility>

namespace flightdeck::lamps {

std::function<std::vector<Finding>(const LampView&)> for_notes(
    NoteKind kind, std::function<void(const Note&, Finding&)> describe) {
  return [kind, describe = std::move(describe)](const LampView& view) {
    std::vector<Finding> findings;
    for (const Note& note : view.notes) {
      if (note.kind != kind) continue;
      Finding finding;
      finding.step = note.step;
      finding.quantity = note.quantity;
      describe(note, finding);
      findings.push_back(std::move(finding));
    }
    return findings;
  };
}

std::string about(const Note& note) {
  return note.quantity.empty() ? note.text : note.quantity + ": " + note.text;
}

}  // namespace flightdeck::lamps

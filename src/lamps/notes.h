// SPDX-License-Identifier: MIT
// What the lamps have in common that are lit by notes in the record.
#pragma once

#include <functional>

#include "flightdeck/lamp.h"

namespace flightdeck::lamps {

// Returns a `look` that gives one finding for each note of this kind. Step and quantity are the
// note's; `describe` writes the rest.
std::function<std::vector<Finding>(const LampView&)> for_notes(
    NoteKind kind, std::function<void(const Note&, Finding&)> describe);

// Returns the note's text with the quantity that it is about.
std::string about(const Note& note);

}  // namespace flightdeck::lamps

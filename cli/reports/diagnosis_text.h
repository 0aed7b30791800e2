// SPDX-License-Identifier: MIT
// What lamps say together of a run, for people at a terminal and for programs.
#pragma once

#include <string>

#include "cli/text/json.h"
#include "flightdeck/diagnosis.h"

namespace flightdeck::cli {

Json diagnosis_json(const Diagnosis& diagnosis);

// Writes the sentence, then causes with what speaks for and against them; lines of `width` columns.
std::string diagnosis_text(const Diagnosis& diagnosis, size_t width);

}  // namespace flightdeck::cli

// SPDX-License-Identifier: MIT
// How far a study is, in one line of any width.
#pragma once

#include <cstddef>
#include <string>

#include "study/execution.h"

namespace flightdeck::cli {

// Counts runs of the plan that nobody has begun.
size_t left_of(const study::Progress& progress);

// Writes at most `columns` characters: what tells least goes first, the share that is done and the
// time left stay.
std::string text_of(const study::Progress& progress, size_t columns);

}  // namespace flightdeck::cli

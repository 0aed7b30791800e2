// SPDX-License-Identifier: MIT
// The text of the problems on characters.
#pragma once

#include <cstdint>

namespace flightdeck::suite {

constexpr int64_t kVocabulary = 83;  ///< characters of War and Peace
constexpr int64_t kTextLength = 50;  ///< places of a sample

}  // namespace flightdeck::suite

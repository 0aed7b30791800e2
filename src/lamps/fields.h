// SPDX-License-Identifier: MIT
// What the lamps have in common that are lit by one number of the whole model.
#pragma once

#include <functional>
#include <string>

#include "flightdeck/lamp.h"

namespace flightdeck::lamps {

// Returns the last `count` values of a field of the whole model; no points if there are fewer.
struct Recent;
Recent recent_field(const LampView& view,
                    const std::string& quantity,
                    const std::string& field,
                    int64_t count);
// Returns the first `count` values in the same way.
Recent first_of_field(const LampView& view,
                      const std::string& quantity,
                      const std::string& field,
                      int64_t count);
// Returns how many values a field has; 0 if there are none.
int64_t count_of(const LampView& view, const std::string& quantity, const std::string& field = "");

// Lights the lamp where `is_bad` holds for the median of the last `count` values of what is judged,
// which its picture shows. Step and quantity are set; `describe` writes the rest, and " (median of
// ...)" is added to the evidence.
void light_by_median(Lamp& lamp,
                     const Pictured& judged,
                     int64_t count,
                     std::function<bool(double value)> is_bad,
                     std::function<void(Finding& finding, double value)> describe);
// Does the same where the median is above the first limit of what is judged, or below it.
void light_above(Lamp& lamp,
                 const Pictured& judged,
                 int64_t count,
                 std::function<void(Finding& finding, double value)> describe);
void light_below(Lamp& lamp,
                 const Pictured& judged,
                 int64_t count,
                 std::function<void(Finding& finding, double value)> describe);
// Does the same. The finding also names the groups whose last value is above the limit, and the
// parameters that the quantity named in a remark that begins with these words; empty: in none.
void light_above_by_group(Lamp& lamp,
                          const Pictured& judged,
                          int64_t count,
                          const std::string& remark,
                          std::function<void(Finding& finding, double value)> describe);

// Writes a share as "37 %".
std::string percent_text(double share);

}  // namespace flightdeck::lamps

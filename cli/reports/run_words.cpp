// SPDX-License-Identifier: MIT
#include "cli/reports/run_words.h"

#include <sstream>

#include "suite/learning_rate.h"

namespace flightdeck::cli {

std::string schedule_words(const std::string& schedule) {
  const std::string name = schedule.substr(0, schedule.find_first_of(":@"));
  if (name == "constant") return "constant";
  for (const suite::ScheduleEntry& entry : suite::all_schedules()) {
    if (entry.name == name) return schedule + " (" + entry.form + "): " + entry.summary;
  }
  return schedule;
}

std::string due_words(const std::string& tracked) {
  const size_t end = tracked.rfind("; ");
  std::istringstream words(end == std::string::npos ? "" : tracked.substr(end + 2));
  std::string kind, first, last, points;
  words >> kind >> first >> last >> points;
  if (kind != "log" || points.empty()) return "";
  return "log " + first + " " + last + " " + points + ": at most " + points +
         " steps, evenly spaced in the exponent from step 10^" + first + " to 10^" + last +
         ", and step 0";
}

}  // namespace flightdeck::cli

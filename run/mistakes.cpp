// SPDX-License-Identifier: MIT
#include "run/mistakes.h"

#include <cmath>
#include <utility>

namespace flightdeck::run {

std::vector<Reading> readings_of(const suite::Mistakes& mistakes) {
  const auto named = [](const char* field) {
    Reading reading;
    reading.quantity = "misclassified";
    reading.field = field;
    return reading;
  };
  std::vector<Reading> readings = {named("")};
  readings[0].number = static_cast<double>(mistakes.count);
  if (!mistakes.confusion.empty()) {
    Reading cells = named("confusion");
    cells.kind = ReadingKind::kHistogram;
    const auto classes = std::llround(std::sqrt(static_cast<double>(mistakes.confusion.size())));
    const ReadingAxis axis{-0.5, static_cast<double>(classes) - 0.5, classes};
    cells.axes = {axis, axis};
    cells.counts = mistakes.confusion;
    readings.push_back(std::move(cells));
  }
  if (mistakes.worst.empty()) return readings;
  const auto add = [&](const char* field, const auto& number_of) {
    Reading list = named(field);
    list.kind = ReadingKind::kList;
    for (const suite::Mistake& mistake : mistakes.worst) {
      list.list.push_back(static_cast<double>(number_of(mistake)));
    }
    readings.push_back(std::move(list));
  };
  add("ids", [](const suite::Mistake& mistake) { return mistake.id; });
  add("labels", [](const suite::Mistake& mistake) { return mistake.label; });
  add("predictions", [](const suite::Mistake& mistake) { return mistake.prediction; });
  add("losses", [](const suite::Mistake& mistake) { return mistake.loss; });
  return readings;
}

}  // namespace flightdeck::run

// SPDX-License-Identifier: MIT
#include "flightdeck/reading.h"

#include <stdexcept>

#include "base/series_name.h"

namespace flightdeck {

const char* to_string(ReadingKind kind) {
  switch (kind) {
    case ReadingKind::kNumber:
      return "number";
    case ReadingKind::kList:
      return "list";
    case ReadingKind::kHistogram:
      return "histogram";
  }
  throw std::logic_error("reading: unknown kind");
}

const char* to_string(NoteKind kind) {
  switch (kind) {
    case NoteKind::kRemark:
      return "remark";
    case NoteKind::kSwitchedOff:
      return "switched_off";
    case NoteKind::kNotStored:
      return "not_stored";
  }
  throw std::logic_error("note: unknown kind");
}

void MemorySink::begin(const RunInfo& info) {
  const bool is_first = info_.start_time == 0;
  if (!is_first && info.start_time != info_.start_time) {
    throw std::logic_error(
        "memory sink: it holds the values of another run; give each cockpit a sink of its own");
  }
  info_ = info;
}

void MemorySink::write(const StepReadings& step) {
  auto& readings = steps_[step.step];
  readings.insert(readings.end(), step.readings.begin(), step.readings.end());
}

const Reading* MemorySink::find(int64_t step,
                                const std::string& quantity,
                                const std::string& group,
                                const std::string& field) const {
  const auto found = steps_.find(step);
  if (found == steps_.end()) return nullptr;
  for (const Reading& reading : found->second) {
    if (reading.quantity == quantity && reading.group == group && reading.field == field) {
      return &reading;
    }
  }
  return nullptr;
}

double MemorySink::number(int64_t step,
                          const std::string& quantity,
                          const std::string& group,
                          const std::string& field) const {
  const Reading* reading = find(step, quantity, group, field);
  if (reading != nullptr && reading->kind == ReadingKind::kNumber) return reading->number;
  std::string there;
  const auto found = steps_.find(step);
  if (found != steps_.end()) {
    for (const Reading& other : found->second) {
      there += (there.empty() ? "" : ", ") + series_name(other.quantity, other.field, other.group);
    }
  }
  for (const Note& note : notes_) there += "; " + note.quantity + ": " + note.text;
  throw std::out_of_range("memory sink: step " + std::to_string(step) + " has no number " +
                          series_name(quantity, field, group) + "; it has " + there);
}

}  // namespace flightdeck

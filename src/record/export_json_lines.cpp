// SPDX-License-Identifier: MIT
#include <stdexcept>

#include "flightdeck/record.h"
#include "record/text.h"

namespace flightdeck {

namespace {

using record::json_number;
using record::json_string;

template <typename T, typename Text>
std::string json_array(const std::vector<T>& elements, Text text) {
  std::string out = "[";
  for (const T& element : elements) out += (out.size() == 1 ? "" : ",") + text(element);
  return out + "]";
}

std::string integer_text(int64_t value) { return std::to_string(value); }

std::string axis_text(const ReadingAxis& axis) {
  return "{\"low\":" + json_number(axis.low) + ",\"high\":" + json_number(axis.high) +
         ",\"count\":" + std::to_string(axis.count) + "}";
}

std::string content_text(const Reading& reading) {
  switch (reading.kind) {
    case ReadingKind::kNumber:
      return "\"value\":" + json_number(reading.number);
    case ReadingKind::kList:
      return "\"value\":" + json_array(reading.list, json_number);
    case ReadingKind::kHistogram:
      return "\"axes\":" + json_array(reading.axes, axis_text) +
             ",\"counts\":" + json_array(reading.counts, integer_text) +
             ",\"below\":" + std::to_string(reading.below) +
             ",\"above\":" + std::to_string(reading.above) +
             ",\"not_a_number\":" + std::to_string(reading.not_a_number);
  }
  throw std::logic_error("record: a reading of no known kind");
}

std::string reading_text(const Reading& reading) {
  return "{\"quantity\":" + json_string(reading.quantity) +
         ",\"field\":" + json_string(reading.field) + ",\"group\":" + json_string(reading.group) +
         ",\"kind\":\"" + to_string(reading.kind) + "\"," + content_text(reading) + "}";
}

}  // namespace

void export_json_lines(const RunReader& run, std::ostream& out) {
  run.for_each_step([&](const StepReadings& step) {
    out << "{\"step\":" << std::to_string(step.step) << ",\"time\":" << json_number(step.time)
        << ",\"values\":" << json_array(step.readings, reading_text) << "}\n";
  });
  if (!out.flush()) {
    throw std::runtime_error("export to JSON lines: the output cannot be written; free some space");
  }
}

}  // namespace flightdeck

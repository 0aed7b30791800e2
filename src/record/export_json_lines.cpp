// SPDX-License-Identifier: MIT
#include <stdexcept>

#include "flightdeck/record.h"
#include "record/json_writer.h"

namespace flightdeck {

namespace {

using record::JsonWriter;

void write_content(JsonWriter& out, const Reading& reading) {
  switch (reading.kind) {
    case ReadingKind::kNumber:
      return out.field("value", reading.number);
    case ReadingKind::kList:
      return out.field("value", reading.list);
    case ReadingKind::kHistogram:
      out.key("axes");
      out.begin_array();
      for (const ReadingAxis& axis : reading.axes) {
        out.begin_object();
        out.field("low", axis.low);
        out.field("high", axis.high);
        out.field("count", axis.count);
        out.end_object();
      }
      out.end_array();
      out.field("counts", reading.counts);
      out.field("below", reading.below);
      out.field("above", reading.above);
      return out.field("not_a_number", reading.not_a_number);
  }
  throw std::logic_error("record: a reading of no known kind");
}

void write_reading(JsonWriter& out, const Reading& reading) {
  out.begin_object();
  out.field("quantity", reading.quantity);
  out.field("field", reading.field);
  out.field("group", reading.group);
  out.field("kind", std::string(to_string(reading.kind)));
  write_content(out, reading);
  out.end_object();
}

std::string line_of(const StepReadings& step) {
  JsonWriter out;
  out.begin_object();
  out.field("step", step.step);
  out.field("time", step.time);
  out.key("values");
  out.begin_array();
  for (const Reading& reading : step.readings) write_reading(out, reading);
  out.end_array();
  out.end_object();
  return out.take();
}

}  // namespace

void export_json_lines(const RunReader& run, std::ostream& out) {
  run.for_each_step([&](const StepReadings& step) { out << line_of(step) << '\n'; });
  if (!out.flush()) {
    throw std::runtime_error("export to JSON lines: the output cannot be written; free some space");
  }
}

}  // namespace flightdeck

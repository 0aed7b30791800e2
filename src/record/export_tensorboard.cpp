// SPDX-License-Identifier: MIT
#include <cstdio>
#include <filesystem>
#include <stdexcept>

#include "base/whole_file.h"
#include "flightdeck/record.h"
#include "record/tensorboard_events.h"

namespace flightdeck {

namespace {

// Returns a name with the run's start, not the moment of the export, so that a second export
// replaces the first instead of doubling its curves.
std::string file_name(const RunInfo& info) {
  // Both come from a record, which may have anything there. 1e11 is in the year 5138.
  const bool is_time = info.start_time >= 0 && info.start_time < 1e11;
  char start[24];
  std::snprintf(
      start, sizeof start, "%010lld", static_cast<long long>(is_time ? info.start_time : 0));
  std::string host = info.host.empty() ? "unknown" : info.host.substr(0, 100);
  for (char& character : host) {
    const auto byte = static_cast<unsigned char>(character);
    if (character == '/' || byte < 0x20 || byte == 0x7f) character = '_';
  }
  return "events.out.tfevents." + std::string(start) + "." + host + ".flightdeck";
}

std::string tag_of(const Reading& reading) {
  return reading.quantity + (reading.group.empty() ? "" : "/" + reading.group) +
         (reading.field.empty() ? "" : "/" + reading.field);
}

std::string values_of(const StepReadings& step) {
  std::string values;
  for (const Reading& reading : step.readings) {
    if (reading.kind == ReadingKind::kNumber) {
      record::put_scalar(values, tag_of(reading), reading.number);
    } else if (reading.kind == ReadingKind::kHistogram && reading.axes.size() == 1) {
      record::put_histogram(values, tag_of(reading), reading);
    }
  }
  return values;
}

}  // namespace

std::string export_tensorboard(const RunReader& run, const std::string& folder) {
  const RunInfo info = run.info();
  std::error_code ignored;  // The file says what matters.
  std::filesystem::create_directories(folder, ignored);
  const std::string path = (std::filesystem::path(folder) / file_name(info)).string();
  WholeFile out(path);
  out.write(record::tensorboard_frame(record::tensorboard_version(info.start_time)));
  run.for_each_step([&](const StepReadings& step) {
    const std::string values = values_of(step);
    if (values.empty()) return;
    out.write(record::tensorboard_frame(record::tensorboard_event(step.time, step.step, values)));
  });
  try {
    out.finish();
    out.keep();
  } catch (const std::runtime_error& error) {
    throw std::runtime_error("export to TensorBoard: " + std::string(error.what()));
  }
  return path;
}

}  // namespace flightdeck

// SPDX-License-Identifier: MIT
#include "tests/record/runs.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <stdlib.h>
#include <sys/stat.h>

#include <gtest/gtest.h>

#include "base/host_name.h"
#include "tests/record/made_steps.h"

namespace flightdeck::tests {

namespace {

bool same_bits(double a, double b) { return std::memcmp(&a, &b, sizeof a) == 0; }

bool same(double a, double b) { return same_bits(a, b) || (a != a && b != b); }

const Reading* find_in(const StepReadings& step, const std::string& quantity) {
  for (const Reading& reading : step.readings) {
    if (reading.quantity == quantity) return &reading;
  }
  return nullptr;
}

// The definition, point by point.
NumberStretch summary_of(const std::vector<NumberPoint>& points, size_t from, size_t count) {
  NumberStretch stretch;
  stretch.first_step = stretch.min_step = stretch.max_step = points[from].step;
  stretch.min = stretch.max = std::numeric_limits<double>::quiet_NaN();
  stretch.first = points[from].value;
  for (size_t i = from; i < from + count; ++i) {
    const NumberPoint& point = points[i];
    stretch.last_step = point.step;
    stretch.last = point.value;
    ++stretch.count;
    if (std::isnan(point.value)) {
      ++stretch.not_a_number;
      continue;
    }
    if (!(stretch.min <= point.value)) {
      stretch.min = point.value;
      stretch.min_step = point.step;
    }
    if (!(stretch.max >= point.value)) {
      stretch.max = point.value;
      stretch.max_step = point.step;
    }
  }
  return stretch;
}

bool equal_value(double a, double b) { return a == b || (a != a && b != b); }

bool equal(const NumberStretch& a, const NumberStretch& b) {
  return a.first_step == b.first_step && a.last_step == b.last_step && a.count == b.count &&
         a.not_a_number == b.not_a_number && equal_value(a.first, b.first) &&
         equal_value(a.last, b.last) && equal_value(a.min, b.min) && equal_value(a.max, b.max) &&
         a.min_step == b.min_step && a.max_step == b.max_step;
}

std::string range_text(const StepRange& range, int64_t at_most) {
  return "[" + std::to_string(range.first) + ", " + std::to_string(range.last) + "], at most " +
         std::to_string(at_most) + ": ";
}

}  // namespace

RunFolder::RunFolder() {
  parent_ = (std::filesystem::temp_directory_path() / "record_test.XXXXXX").string();
  if (::mkdtemp(parent_.data()) == nullptr) ADD_FAILURE() << "no temporary folder " << parent_;
  path_ = parent_ + "/runs/first";
}

RunFolder::~RunFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(parent_, ignored);
}

Reading number(const std::string& quantity,
               double value,
               const std::string& group,
               const std::string& field) {
  Reading reading;
  reading.quantity = quantity;
  reading.group = group;
  reading.field = field;
  reading.number = value;
  return reading;
}

StepReadings step_of(int64_t step, std::vector<Reading> readings) {
  return {step, 100.0 + static_cast<double>(step), std::move(readings)};
}

RunInfo full_info() {
  RunInfo info;
  info.start_time = 1700000000.5;
  info.flightdeck_version = "0.1.0";
  info.libtorch_version = "1.13.1";
  info.host = host_name();
  info.command = "run --out 'a b'";
  info.device = "cpu";
  info.grouping = "parameter";
  info.parameters = {{"conv1.weight", {16, 1, 5, 5}, "float32"}, {"scale", {}, "float64"}};
  info.groups = {"conv1.weight", "scale"};
  info.quantities = {{"loss", "the loss", "every 1", "", "none"},
                     {"alpha", "step length", "every 5", "kind=ggn", "one pass"}};
  info.config = {{"optimizer", "sgd"}, {"seed", "3"}};
  info.plan = "line one\nline two";
  info.coverage = "all fast";
  return info;
}

void record_steps(const std::string& folder, int64_t steps, Ending ending) {
  Recorder recorder(folder);
  recorder.begin(full_info());
  for (int64_t step = 0; step < steps; ++step) recorder.write(make_step(step));
  recorder.finish(ending);
}

std::string contents(const std::string& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream in(entry.path(), std::ios::binary);
    struct stat status = {};
    ::stat(entry.path().c_str(), &status);
    files[entry.path().filename().string()] = std::to_string(status.st_mtim.tv_sec) + "." +
                                              std::to_string(status.st_mtim.tv_nsec) +
                                              std::string(std::istreambuf_iterator<char>(in), {});
  }
  std::string out;
  for (const auto& [name, text] : files) out += name + ":" + text + "\n";
  return out;
}

bool equal(const Reading& a, const Reading& b) {
  if (a.quantity != b.quantity || a.field != b.field || a.group != b.group || a.kind != b.kind) {
    return false;
  }
  if (a.list.size() != b.list.size() || a.axes.size() != b.axes.size()) return false;
  for (size_t i = 0; i < a.list.size(); ++i) {
    if (!same_bits(a.list[i], b.list[i])) return false;
  }
  for (size_t i = 0; i < a.axes.size(); ++i) {
    if (a.axes[i].low != b.axes[i].low || a.axes[i].high != b.axes[i].high ||
        a.axes[i].count != b.axes[i].count) {
      return false;
    }
  }
  return same(a.number, b.number) && a.counts == b.counts && a.below == b.below &&
         a.above == b.above && a.not_a_number == b.not_a_number;
}

std::string faults(const RunReader& reader, int64_t last) {
  std::string wrong;
  int64_t expected = 0;
  int64_t last_late = -1;
  reader.for_each_step([&](const StepReadings& step) {
    const std::string name = "step " + std::to_string(step.step) + ": ";
    if (step.step != expected) wrong += name + "follows " + std::to_string(expected - 1) + "\n";
    expected = step.step + 1;
    std::vector<Reading> wanted = make_step(step.step).readings;
    const Reading late = make_late_step(step.step).readings[0];
    const Reading* found_late = find_in(step, late.quantity);
    if (found_late != nullptr) {
      wanted.push_back(late);
      if (last_late != step.step - 1) wrong += name + "a late value without the one before\n";
      last_late = step.step;
    }
    if (wanted.size() != step.readings.size()) wrong += name + "wrong number of values\n";
    for (const Reading& reading : wanted) {
      const Reading* found = find_in(step, reading.quantity);
      if (found == nullptr) {
        wrong += name + "no " + reading.quantity + "\n";
      } else if (!equal(*found, reading)) {
        wrong += name + "other " + reading.quantity + "\n";
      }
    }
  });
  if (expected <= last) {
    wrong += "ends at " + std::to_string(expected - 1) + ", not " + std::to_string(last) + "\n";
  }
  // The last value may come up to two steps after its own.
  if (last_late < expected - 3) wrong += "late values end at " + std::to_string(last_late) + "\n";
  return wrong;
}

std::string stretch_faults(const RunReader& reader,
                           int64_t series,
                           const StepRange& range,
                           int64_t at_most) {
  const auto points = reader.numbers(series, range);
  const auto stretches = reader.stretches(series, range, at_most);
  const std::string name = range_text(range, at_most);
  const int64_t count = static_cast<int64_t>(stretches.size()),
                all = static_cast<int64_t>(points.size()), wanted = std::min(all, at_most);
  if (count > wanted || count < (all <= at_most ? wanted : (wanted + 1) / 2)) {
    return name + std::to_string(count) + " stretches of " + std::to_string(all) + " points\n";
  }
  size_t from = 0;
  for (const NumberStretch& stretch : stretches) {
    const size_t size = static_cast<size_t>(stretch.count);
    if (size == 0 || from + size > points.size()) return name + "wrong number of points\n";
    if (!equal(stretch, summary_of(points, from, size))) {
      return name + "other stretch at step " + std::to_string(stretch.first_step) + "\n";
    }
    from += size;
  }
  return from == points.size() ? "" : name + "points are missing at the end\n";
}

std::string frame_faults(const RunReader& reader,
                         int64_t series,
                         const StepRange& range,
                         int64_t at_most) {
  const auto readings = reader.readings(series, range);
  const auto frames = reader.frames(series, range, at_most);
  const std::string name = range_text(range, at_most);
  const size_t all = readings.size(), wanted = std::min<size_t>(all, at_most);
  if (frames.size() != wanted) return name + std::to_string(frames.size()) + " frames\n";
  for (size_t i = 0; i < wanted; ++i) {
    const size_t place = wanted == 1 ? all - 1 : i * (all - 1) / (wanted - 1);
    if (frames[i].first != readings[place].first ||
        !equal(frames[i].second, readings[place].second)) {
      return name + "other frame " + std::to_string(i) + "\n";
    }
  }
  return "";
}

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const std::exception& error) {
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

RecorderOptions collecting(std::vector<std::string>& warnings) {
  RecorderOptions options;
  options.on_warning = [&warnings](const std::string& text) { warnings.push_back(text); };
  return options;
}

}  // namespace flightdeck::tests

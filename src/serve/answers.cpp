// SPDX-License-Identifier: MIT
#include "serve/answers.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <sstream>

namespace flightdeck::serve {

namespace {

wire::Series series_of(const SeriesInfo& series) {
  return {series.id,
          series.quantity,
          series.field,
          series.group,
          to_string(series.kind),
          series.count,
          series.first_step,
          series.last_step};
}

wire::Note note_of(const Note& note) {
  return {note.step, note.time, to_string(note.kind), note.quantity, note.text};
}

int gravity(const wire::Lamp& lamp) {
  return lamp.severity == "failure" ? 2 : lamp.severity == "warning" ? 1 : 0;
}

wire::Lamp lamp_of(const Note& note) {
  const std::string what = note.quantity.empty() ? "" : note.quantity + ": ";
  const auto commas = std::count(note.quantity.begin(), note.quantity.end(), ',');
  const bool is_several = commas > 0;
  switch (note.kind) {
    case NoteKind::kSwitchedOff:
      return {"warning",
              note.step,
              note.quantity,
              is_several
                  ? std::to_string(1 + commas) + " quantities were switched off: " + note.quantity
                  : (note.quantity.empty() ? "A quantity" : note.quantity) + " was switched off",
              note.text + ". No values of " + (is_several ? "these" : "it") + " from step " +
                  std::to_string(note.step) + " on; the others go on. Track " +
                  (is_several ? "them" : "it") + " again after removing the cause, or leave " +
                  (is_several ? "them" : "it") + " out"};
    case NoteKind::kNotStored:
      return {"warning",
              note.step,
              note.quantity,
              "Values were not stored",
              what + note.text + ". Free some space on the disk of the run; training went on"};
    case NoteKind::kRemark:
      break;
  }
  return {"advice", note.step, note.quantity, "Remark", what + note.text};
}

constexpr const char* kDivergedAdvice =
    ". Look for the first step at which gradients grow; lower the learning rate, clip gradients, "
    "or "
    "check the data";

wire::Lamp lamp_of_ending(RunStatus status, int64_t last_step) {
  const std::string where =
      last_step < 0 ? "before the first values" : "after step " + std::to_string(last_step);
  if (status == RunStatus::kFailed) {
    return {"failure",
            last_step,
            "",
            "The run failed",
            "It ended with an exception " + where + "; its command printed why"};
  }
  return {"failure",
          last_step,
          "",
          "The run was killed",
          "Its process is gone " + where +
              " without ending the run: killed, out of memory, or the "
              "machine went down. All values up to there are safe; see the log of the system"};
}

bool is_training_loss(const SeriesInfo& series) {
  return series.field.empty() && (series.quantity == "loss" || series.quantity == "train_loss");
}

// Of a series of a moderate length if there is one: times between are met by straight lines.
const SeriesInfo* series_for_clock(const std::vector<SeriesInfo>& all) {
  constexpr int64_t kModerate = 2000;
  const SeriesInfo* best = nullptr;
  for (const SeriesInfo& series : all) {
    if (series.kind != ReadingKind::kNumber || !series.group.empty()) continue;
    const bool is_moderate = series.count <= kModerate;
    const bool is_better =
        best == nullptr || (best->count > kModerate ? series.count < best->count
                                                    : is_moderate && series.count > best->count);
    if (is_better) best = &series;
  }
  return best;
}

wire::Clock clock_of(const RunReader& run, const std::vector<SeriesInfo>& all, double start_time) {
  constexpr size_t kMostEntries = 256;
  wire::Clock clock;
  const SeriesInfo* series = series_for_clock(all);
  if (series == nullptr) return clock;
  const std::vector<NumberPoint> points = run.numbers(series->id);
  if (points.empty()) return clock;
  const double begin = std::min(start_time, points.front().time);
  const size_t stride = 1 + (points.size() - 1) / kMostEntries;
  for (size_t k = 0; k < points.size(); k += stride) {
    const NumberPoint& point = points[k + stride < points.size() ? k : points.size() - 1];
    clock.steps.push_back(point.step);
    clock.seconds.push_back(point.time - begin);
  }
  return clock;
}

// The step that the program around recorded with the ending; -1 if it did not.
int64_t told_divergence(const RunSummary& summary) {
  const auto told = summary.info.config.find("diverged_at");
  if (told == summary.info.config.end()) return -1;
  int64_t step = -1;
  std::istringstream(told->second) >> step;
  return step;
}

// The first of the training losses that is not finite, where the last is not finite either.
std::optional<wire::Lamp> lamp_of_losses(const RunReader& run, const RunSummary& summary) {
  std::optional<wire::Lamp> earliest;
  for (const LastNumber& last : summary.numbers) {
    if (!is_training_loss(last.series) || std::isfinite(last.point.value)) continue;
    const std::vector<NumberPoint> points = run.numbers(last.series.id);
    const auto first = std::find_if(points.begin(), points.end(), [](const NumberPoint& point) {
      return !std::isfinite(point.value);
    });
    const NumberPoint point = first == points.end() ? last.point : *first;
    if (earliest && earliest->step <= point.step) continue;
    earliest =
        wire::Lamp{"failure",
                   point.step,
                   last.series.quantity,
                   "The loss is no longer finite",
                   last.series.quantity + " is " + (std::isnan(point.value) ? "NaN" : "infinite") +
                       " at step " + std::to_string(point.step) + kDivergedAdvice};
  }
  return earliest;
}

// One lamp for one divergence, at the step that the command line names too.
std::optional<wire::Lamp> lamp_of_divergence(const RunReader& run, const RunSummary& summary) {
  const int64_t step = told_divergence(summary);
  if (step < 0) return lamp_of_losses(run, summary);
  return wire::Lamp{"failure",
                    step,
                    "",
                    "The training diverged",
                    "The loss is not finite at step " + std::to_string(step) + kDivergedAdvice};
}

}  // namespace

wire::RunSummary summary_of(const RunReader& run, const std::string& id, int64_t change) {
  const RunSummary read = run.summary();
  wire::RunSummary summary;
  summary.id = id;
  summary.status = to_string(read.status);
  summary.change = change;
  summary.start_time = read.info.start_time;
  summary.last_time = read.last_time;
  summary.last_step = read.last_step;
  summary.config = read.info.config;
  for (const LastNumber& last : read.numbers) {
    const SeriesInfo& series = last.series;
    summary.values[series.quantity + (series.field.empty() ? "" : "/" + series.field)] =
        last.point.value;
  }
  return summary;
}

wire::RunSummary unreadable_run(const std::string& id, int64_t change, const std::string& error) {
  wire::RunSummary summary;
  summary.id = id;
  summary.status = to_string(RunStatus::kUnreadable);
  summary.error = error;
  summary.change = change;
  summary.last_step = -1;
  return summary;
}

wire::RunDetails details_of(const RunReader& run, wire::RunSummary summary) {
  const RunInfo info = run.info();
  wire::RunDetails details;
  details.summary = std::move(summary);
  details.flightdeck_version = info.flightdeck_version;
  details.libtorch_version = info.libtorch_version;
  details.host = info.host;
  details.command = info.command;
  details.device = info.device;
  details.grouping = info.grouping;
  details.plan = info.plan;
  details.coverage = info.coverage;
  for (const ParameterInfo& parameter : info.parameters) {
    details.parameters.push_back({parameter.name, parameter.shape, parameter.type});
  }
  details.groups = info.groups;
  for (const QuantityInfo& quantity : info.quantities) {
    details.quantities.push_back(
        {quantity.name, quantity.summary, quantity.schedule, quantity.settings, quantity.cost});
  }
  const std::vector<SeriesInfo> all = run.series();
  for (const SeriesInfo& series : all) details.series.push_back(series_of(series));
  details.clock = clock_of(run, all, info.start_time);
  for (const Note& note : run.notes()) details.notes.push_back(note_of(note));
  return details;
}

wire::Points points_of(const RunReader& run,
                       int64_t series,
                       const StepRange& range,
                       int64_t at_most) {
  const std::vector<NumberStretch> stretches = run.stretches(series, range, at_most);
  wire::Points points;
  points.id = series;
  for (const NumberStretch& stretch : stretches) {
    points.count += stretch.count;
    points.reduced |= stretch.count > 1;
    points.steps.push_back(stretch.last_step);
    points.values.push_back(stretch.last);
  }
  if (!points.reduced) return points;
  for (const NumberStretch& stretch : stretches) {
    points.low.push_back(stretch.min);
    points.high.push_back(stretch.max);
  }
  return points;
}

std::vector<wire::Frame> frames_of(const RunReader& run,
                                   int64_t series,
                                   const StepRange& range,
                                   int64_t at_most,
                                   int64_t most_numbers) {
  std::vector<wire::Frame> frames;
  for (auto& [step, reading] : run.frames(series, range, at_most, most_numbers)) {
    wire::Frame frame;
    frame.id = series;
    frame.step = step;
    frame.list = std::move(reading.list);
    for (const ReadingAxis& axis : reading.axes) {
      frame.axes.push_back({axis.low, axis.high, axis.count});
    }
    frame.counts = std::move(reading.counts);
    frame.below = reading.below;
    frame.above = reading.above;
    frame.not_a_number = reading.not_a_number;
    frames.push_back(std::move(frame));
  }
  return frames;
}

std::vector<wire::Lamp> lamps_of(const RunReader& run) {
  std::vector<wire::Lamp> lamps;
  const RunSummary summary = run.summary();
  if (summary.status == RunStatus::kFailed || summary.status == RunStatus::kKilled) {
    lamps.push_back(lamp_of_ending(summary.status, summary.last_step));
  }
  if (const auto lamp = lamp_of_divergence(run, summary)) lamps.push_back(*lamp);
  for (const Note& note : run.notes()) lamps.push_back(lamp_of(note));
  std::stable_sort(lamps.begin(), lamps.end(), [](const wire::Lamp& a, const wire::Lamp& b) {
    return gravity(a) > gravity(b);
  });
  return lamps;
}

}  // namespace flightdeck::serve

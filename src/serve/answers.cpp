// SPDX-License-Identifier: MIT
#include "serve/answers.h"

#include <algorithm>
#include <cmath>

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
  switch (note.kind) {
    case NoteKind::kSwitchedOff:
      return {
          "warning",
          note.step,
          note.quantity,
          (note.quantity.empty() ? "A quantity" : note.quantity) + " was switched off",
          note.text + ". It has no values from step " + std::to_string(note.step) +
              " on; the others go on. Track it again after removing the cause, or leave it out"};
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

wire::Lamp lamp_of_ending(const std::string& status, int64_t last_step) {
  const std::string where =
      last_step < 0 ? "before the first values" : "after step " + std::to_string(last_step);
  if (status == "failed") {
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

wire::Lamp lamp_of_loss(const LastNumber& loss) {
  return {"failure",
          loss.point.step,
          loss.series.quantity,
          "The loss is no longer finite",
          loss.series.quantity + " is " + (std::isnan(loss.point.value) ? "NaN" : "infinite") +
              " at step " + std::to_string(loss.point.step) +
              ". Look for the first step at which gradients grow; lower the learning rate, clip "
              "gradients, or check the data"};
}

}  // namespace

wire::RunSummary summary_of(const RunReader& run, const std::string& id, int64_t change) {
  const RunSummary read = run.summary();
  wire::RunSummary summary;
  summary.id = id;
  summary.status = read.status;
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
  summary.status = "unreadable";
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
  for (const SeriesInfo& series : run.series()) details.series.push_back(series_of(series));
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
  if (summary.status == "failed" || summary.status == "killed") {
    lamps.push_back(lamp_of_ending(summary.status, summary.last_step));
  }
  for (const LastNumber& last : summary.numbers) {
    if (is_training_loss(last.series) && !std::isfinite(last.point.value)) {
      lamps.push_back(lamp_of_loss(last));
    }
  }
  for (const Note& note : run.notes()) lamps.push_back(lamp_of(note));
  std::stable_sort(lamps.begin(), lamps.end(), [](const wire::Lamp& a, const wire::Lamp& b) {
    return gravity(a) > gravity(b);
  });
  return lamps;
}

}  // namespace flightdeck::serve

// SPDX-License-Identifier: MIT
#include "serve/answers.h"

#include <algorithm>
#include <map>

#include "base/series_name.h"
#include "flightdeck/diagnosis.h"
#include "record/run_texts.h"
#include "record/text.h"

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

// Returns a series of a moderate length if there is one. Straight lines meet the times between its
// points.
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

std::vector<wire::Lamp> lamps_among(const std::vector<Finding>& findings) {
  std::vector<wire::Lamp> lamps;
  for (const Finding& finding : findings) {
    lamps.push_back({to_string(finding.severity),
                     finding.step,
                     finding.quantity,
                     finding.symptom,
                     finding.text()});
  }
  return lamps;
}

wire::Evidence evidence_of(const Evidence& evidence, const Lamp& lamp) {
  wire::Evidence answer;
  answer.lamp = evidence.lamp;
  answer.title = evidence.title;
  if (evidence.is_lit) answer.text = evidence.text;
  answer.is_lit = evidence.is_lit;
  answer.severity = to_string(lamp.severity);
  answer.step = evidence.step;
  for (const std::string& read : lamp.reads) {
    if (read != "notes" && read != "status") answer.quantities.push_back(read);
  }
  answer.layers = evidence.layers;
  answer.samples = evidence.samples;
  answer.samples_are_positions = evidence.samples_are_positions;
  answer.series = evidence.series;
  answer.limits = evidence.limits;
  return answer;
}

// Collects the evidence, which causes share, so that each piece is told once.
using EvidenceByLamp = std::map<std::string, const Evidence*>;

std::vector<wire::Weight> weights_of(const std::vector<Evidence>& all, EvidenceByLamp& seen) {
  std::vector<wire::Weight> weights;
  for (const Evidence& one : all) {
    weights.push_back({one.lamp, one.weight});
    seen[one.lamp] = &one;
  }
  return weights;
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
    summary.values[series_name(last.series.quantity, last.series.field)] = last.point.value;
  }
  return summary;
}

wire::RunSummary look_at_run(const std::string& folder,
                             const std::string& id,
                             const ReadOptions& options) {
  wire::RunSummary summary;
  if (record::valid_utf8(id) != id) {
    summary = unreadable_run(
        id, 0, "the name of its folder is not UTF-8, so no request can name it; rename it");
  } else {
    try {
      summary = summary_of(RunReader(folder, options), id, 0);
    } catch (const std::exception& error) {
      summary = unreadable_run(id, 0, error.what());
    }
  }
  add_labels(summary, folder);
  return summary;
}

void add_labels(wire::RunSummary& summary, const std::string& folder) {
  try {
    add_labels(summary, record::read_labels(folder));
  } catch (const std::exception&) {
    // Damaged labels must not hide the record. A person who labels the run gets the error.
  }
}

void add_labels(wire::RunSummary& summary, const record::Labels& labels) {
  summary.tags = labels.tags;
  summary.note = labels.note;
  summary.archived = labels.is_archived;
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
  record::copy_run_texts(info, details);
  for (const ParameterInfo& parameter : info.parameters) {
    details.parameters.push_back({parameter.name, parameter.shape, parameter.type});
  }
  details.groups = info.groups;
  for (const QuantityInfo& quantity : info.quantities) {
    record::copy_quantity_texts(quantity, details.quantities.emplace_back());
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

std::vector<wire::Lamp> lamps_of(const RunReader& run) { return lamps_among(findings_in(run)); }

wire::Diagnosis diagnosis_of(const RunReader& run) {
  const Diagnosis diagnosis = diagnose(run);
  wire::Diagnosis answer;
  answer.verdict = to_string(diagnosis.verdict);
  answer.sentence = diagnosis.sentence;
  answer.confidence = diagnosis.confidence;
  answer.health = diagnosis.health;
  answer.track = diagnosis.track;
  answer.lamps = lamps_among(diagnosis.findings);
  EvidenceByLamp evidence;
  for (const RankedCause& cause : diagnosis.causes) {
    answer.causes.push_back({cause.name,
                             cause.sentence,
                             cause.advice,
                             cause.probability,
                             cause.step,
                             weights_of(cause.speaks_for, evidence),
                             weights_of(cause.speaks_against, evidence)});
  }
  for (const Lamp& lamp : lamp_catalogue()) {
    const auto found = evidence.find(lamp.name);
    if (found != evidence.end()) answer.evidence.push_back(evidence_of(*found->second, lamp));
  }
  return answer;
}

}  // namespace flightdeck::serve

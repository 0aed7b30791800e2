// SPDX-License-Identifier: MIT
// What the server and the report tell the page. Made by tools/wire_types.py of wire.json.
// clang-format off
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace flightdeck::serve::wire {

constexpr int64_t kApi = 1;

// Who answers.
struct ServerInfo {
  // version of this format
  int64_t api = 0;
  // of Flightdeck
  std::string version;
  // differs after a restart of the server
  std::string epoch;
  // whose runs are served
  std::string folder;
  // how often the folder is looked at
  int64_t refresh_ms = 0;
  // runs can be labelled through it
  bool edit = false;
};

// A run as lists show it.
struct RunSummary {
  // its folder, relative to the served one, with slashes; . is the served folder itself
  std::string id;
  // running|finished|interrupted|diverged|failed|killed|unreadable; how it stands
  std::string status;
  // why it cannot be read; empty if it can
  std::string error;
  // grows whenever anything of the run changes
  int64_t change = 0;
  // seconds since 1970
  double start_time = 0;
  // of the last values; 0 before the first
  double last_time = 0;
  // -1 before the first
  int64_t last_step = 0;
  // what the user added: problem, optimizer, seed
  std::map<std::string, std::string> config;
  // last numbers of the whole model by quantity[/field]
  std::map<std::string, double> values;
  // words that people gave it
  std::vector<std::string> tags;
  // what people say of it; may have several lines
  std::string note;
  // left out of lists unless they are asked for it
  bool archived = false;
};

// All runs of the folder, the newest first.
struct RunList {
  // of the server
  std::string epoch;
  // the largest change so far
  int64_t change = 0;
  std::vector<RunSummary> runs;
};

struct Parameter {
  std::string name;
  std::vector<int64_t> shape;
  // float32
  std::string type;
};

// A quantity as this run tracked it.
struct Quantity {
  std::string name;
  // one line
  std::string summary;
  std::string due;
  std::string settings;
  // free, first-order, curvature or spectrum
  std::string cost;
};

// What there is to read of one value.
struct Series {
  // within the run
  int64_t id = 0;
  std::string quantity;
  // empty for the main value
  std::string field;
  // empty for the whole model
  std::string group;
  // number|list|histogram
  std::string kind;
  // of steps
  int64_t count = 0;
  int64_t first_step = 0;
  int64_t last_step = 0;
};

// What the cockpit remarked.
struct Note {
  int64_t step = 0;
  // seconds since 1970
  double time = 0;
  // remark|switched_off|not_stored
  std::string kind;
  // empty if none in particular
  std::string quantity;
  std::string text;
};

// When steps were recorded: some of them, from first to last.
struct Clock {
  // ascending
  std::vector<int64_t> steps;
  // since the run began, pauses before it was resumed among them
  std::vector<double> seconds;
};

// Everything about a run but its values.
struct RunDetails {
  RunSummary summary;
  std::string flightdeck_version;
  std::string libtorch_version;
  std::string host;
  std::string command;
  std::string device;
  std::string grouping;
  // what is computed when, for people
  std::string plan;
  // how individual gradients are obtained, for people
  std::string coverage;
  std::vector<Parameter> parameters;
  // without the whole model
  std::vector<std::string> groups;
  std::vector<Quantity> quantities;
  std::vector<Series> series;
  std::vector<Note> notes;
  Clock clock;
};

// One series of numbers. Reduced: each entry stands for several points up to its step, with the last value and the extremes.
struct Points {
  // of the series
  int64_t id = 0;
  bool reduced = false;
  // points in the range asked for
  int64_t count = 0;
  // ascending
  std::vector<int64_t> steps;
  std::vector<double> values;
  // reduced: smallest value of each entry; else empty
  std::vector<double> low;
  // reduced: largest value of each entry; else empty
  std::vector<double> high;
};

struct PointsList {
  // of the run when they were read
  int64_t change = 0;
  // in the order asked for
  std::vector<Points> series;
};

// Bins of equal width over [low, high].
struct Axis {
  double low = 0;
  double high = 0;
  int64_t count = 0;
};

// A list or a histogram at one step.
struct Frame {
  // of the series
  int64_t id = 0;
  int64_t step = 0;
  // empty for histograms
  std::vector<double> list;
  // one, or two (gradients, parameters); empty for lists
  std::vector<Axis> axes;
  // row by row
  std::vector<int64_t> counts;
  int64_t below = 0;
  int64_t above = 0;
  int64_t not_a_number = 0;
};

struct FrameList {
  // of the run when they were read
  int64_t change = 0;
  // by series in the order asked for, then by step
  std::vector<Frame> frames;
};

// A finding that asks for attention.
struct Lamp {
  // advice|warning|failure
  std::string severity;
  // -1 if of the run as a whole
  int64_t step = 0;
  // empty if none in particular
  std::string quantity;
  std::string title;
  // evidence and advice
  std::string text;
};

struct LampList {
  // the gravest first
  std::vector<Lamp> lamps;
};

// What one lamp says, lit or dark.
struct Evidence {
  std::string lamp;
  // the symptom; of a dark lamp what it would have been lit by
  std::string title;
  // what it found; empty if it is dark
  std::string text;
  bool is_lit = false;
  // advice|warning|failure; of the lamp
  std::string severity;
  // where it was found; -1 if it is dark or of the run as a whole
  int64_t step = 0;
  // that it reads
  std::vector<std::string> quantities;
  // that it is about; empty for the whole model
  std::vector<std::string> layers;
  // that the quantity lists at the step
  std::vector<int64_t> samples;
  // in the batch; else places in the data set
  bool samples_are_positions = false;
  // ids of numbers that show it
  std::vector<int64_t> series;
  // what these are compared with; empty if nothing fixed
  std::vector<double> limits;
};

// A piece of evidence as one cause sees it.
struct Weight {
  // of the evidence
  std::string lamp;
  // log of how much more often it is seen with the cause than in healthy runs
  double weight = 0;
};

// Something that may be wrong.
struct Cause {
  std::string name;
  // what is wrong
  std::string sentence;
  // what to do, with values where they are known
  std::string advice;
  // of all causes and of health
  double probability = 0;
  // of the first finding that speaks for it; -1 if none does
  int64_t step = 0;
  // the strongest first
  std::vector<Weight> speaks_for;
  // the strongest first
  std::vector<Weight> speaks_against;
};

// What all lamps say together.
struct Diagnosis {
  // healthy|fault|cannot_tell
  std::string verdict;
  // the one that stands on top
  std::string sentence;
  // probability of what the sentence says
  double confidence = 0;
  // probability that nothing is wrong
  double health = 0;
  // the likeliest first, those below 1 % left out
  std::vector<Cause> causes;
  // that a cause names, by lamp
  std::vector<Evidence> evidence;
  // quantities that are not tracked and would tell most
  std::vector<std::string> track;
  // the gravest first
  std::vector<Lamp> lamps;
};

// A run that is no longer there.
struct Gone {
  std::string id;
  int64_t change = 0;
};

// The answer to a request that was not carried out.
struct Refusal {
  // what is wrong
  std::string error;
  // what to do
  std::string remedy;
};

// A run in one file.
struct Report {
  // version of this format
  int64_t api = 0;
  // seconds since 1970
  double made = 0;
  RunDetails run;
  std::vector<Points> points;
  std::vector<Frame> frames;
  Diagnosis diagnosis;
  // numbers in the record
  int64_t points_recorded = 0;
  // entries in this report
  int64_t points_kept = 0;
  // lists and histograms in the record
  int64_t frames_recorded = 0;
  // of them in this report
  int64_t frames_kept = 0;
};

std::string to_json(const ServerInfo& value);
std::string to_json(const RunSummary& value);
std::string to_json(const RunList& value);
std::string to_json(const Parameter& value);
std::string to_json(const Quantity& value);
std::string to_json(const Series& value);
std::string to_json(const Note& value);
std::string to_json(const Clock& value);
std::string to_json(const RunDetails& value);
std::string to_json(const Points& value);
std::string to_json(const PointsList& value);
std::string to_json(const Axis& value);
std::string to_json(const Frame& value);
std::string to_json(const FrameList& value);
std::string to_json(const Lamp& value);
std::string to_json(const LampList& value);
std::string to_json(const Evidence& value);
std::string to_json(const Weight& value);
std::string to_json(const Cause& value);
std::string to_json(const Diagnosis& value);
std::string to_json(const Gone& value);
std::string to_json(const Refusal& value);
std::string to_json(const Report& value);

}  // namespace flightdeck::serve::wire

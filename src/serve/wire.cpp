// SPDX-License-Identifier: MIT
// Made by tools/wire_types.py of wire.json.
// clang-format off
#include "serve/wire.h"

#include "record/json_writer.h"

namespace flightdeck::serve::wire {

namespace {

void write(record::JsonWriter& out, const ServerInfo& value) {
  out.begin_object();
  out.key("api");
  out.value(value.api);
  out.key("version");
  out.value(value.version);
  out.key("epoch");
  out.value(value.epoch);
  out.key("folder");
  out.value(value.folder);
  out.key("refresh_ms");
  out.value(value.refresh_ms);
  out.key("edit");
  out.value(value.edit);
  out.end_object();
}

void write(record::JsonWriter& out, const RunSummary& value) {
  out.begin_object();
  out.key("id");
  out.value(value.id);
  out.key("status");
  out.value(value.status);
  out.key("error");
  out.value(value.error);
  out.key("change");
  out.value(value.change);
  out.key("start_time");
  out.value(value.start_time);
  out.key("last_time");
  out.value(value.last_time);
  out.key("last_step");
  out.value(value.last_step);
  out.key("config");
  out.value(value.config);
  out.key("values");
  out.value(value.values);
  out.key("tags");
  out.value(value.tags);
  out.key("note");
  out.value(value.note);
  out.key("archived");
  out.value(value.archived);
  out.end_object();
}

void write(record::JsonWriter& out, const RunList& value) {
  out.begin_object();
  out.key("epoch");
  out.value(value.epoch);
  out.key("change");
  out.value(value.change);
  out.key("runs");
  out.begin_array();
  for (const RunSummary& element : value.runs) write(out, element);
  out.end_array();
  out.end_object();
}

void write(record::JsonWriter& out, const Parameter& value) {
  out.begin_object();
  out.key("name");
  out.value(value.name);
  out.key("shape");
  out.value(value.shape);
  out.key("type");
  out.value(value.type);
  out.end_object();
}

void write(record::JsonWriter& out, const Quantity& value) {
  out.begin_object();
  out.key("name");
  out.value(value.name);
  out.key("summary");
  out.value(value.summary);
  out.key("due");
  out.value(value.due);
  out.key("settings");
  out.value(value.settings);
  out.key("cost");
  out.value(value.cost);
  out.end_object();
}

void write(record::JsonWriter& out, const Series& value) {
  out.begin_object();
  out.key("id");
  out.value(value.id);
  out.key("quantity");
  out.value(value.quantity);
  out.key("field");
  out.value(value.field);
  out.key("group");
  out.value(value.group);
  out.key("kind");
  out.value(value.kind);
  out.key("count");
  out.value(value.count);
  out.key("first_step");
  out.value(value.first_step);
  out.key("last_step");
  out.value(value.last_step);
  out.end_object();
}

void write(record::JsonWriter& out, const Note& value) {
  out.begin_object();
  out.key("step");
  out.value(value.step);
  out.key("time");
  out.value(value.time);
  out.key("kind");
  out.value(value.kind);
  out.key("quantity");
  out.value(value.quantity);
  out.key("text");
  out.value(value.text);
  out.end_object();
}

void write(record::JsonWriter& out, const Clock& value) {
  out.begin_object();
  out.key("steps");
  out.value(value.steps);
  out.key("seconds");
  out.value(value.seconds);
  out.end_object();
}

void write(record::JsonWriter& out, const RunDetails& value) {
  out.begin_object();
  out.key("summary");
  write(out, value.summary);
  out.key("flightdeck_version");
  out.value(value.flightdeck_version);
  out.key("libtorch_version");
  out.value(value.libtorch_version);
  out.key("host");
  out.value(value.host);
  out.key("command");
  out.value(value.command);
  out.key("device");
  out.value(value.device);
  out.key("grouping");
  out.value(value.grouping);
  out.key("plan");
  out.value(value.plan);
  out.key("coverage");
  out.value(value.coverage);
  out.key("parameters");
  out.begin_array();
  for (const Parameter& element : value.parameters) write(out, element);
  out.end_array();
  out.key("groups");
  out.value(value.groups);
  out.key("quantities");
  out.begin_array();
  for (const Quantity& element : value.quantities) write(out, element);
  out.end_array();
  out.key("series");
  out.begin_array();
  for (const Series& element : value.series) write(out, element);
  out.end_array();
  out.key("notes");
  out.begin_array();
  for (const Note& element : value.notes) write(out, element);
  out.end_array();
  out.key("clock");
  write(out, value.clock);
  out.end_object();
}

void write(record::JsonWriter& out, const Points& value) {
  out.begin_object();
  out.key("id");
  out.value(value.id);
  out.key("reduced");
  out.value(value.reduced);
  out.key("count");
  out.value(value.count);
  out.key("steps");
  out.value(value.steps);
  out.key("values");
  out.value(value.values);
  out.key("low");
  out.value(value.low);
  out.key("high");
  out.value(value.high);
  out.end_object();
}

void write(record::JsonWriter& out, const PointsList& value) {
  out.begin_object();
  out.key("change");
  out.value(value.change);
  out.key("series");
  out.begin_array();
  for (const Points& element : value.series) write(out, element);
  out.end_array();
  out.end_object();
}

void write(record::JsonWriter& out, const Axis& value) {
  out.begin_object();
  out.key("low");
  out.value(value.low);
  out.key("high");
  out.value(value.high);
  out.key("count");
  out.value(value.count);
  out.end_object();
}

void write(record::JsonWriter& out, const Frame& value) {
  out.begin_object();
  out.key("id");
  out.value(value.id);
  out.key("step");
  out.value(value.step);
  out.key("list");
  out.value(value.list);
  out.key("axes");
  out.begin_array();
  for (const Axis& element : value.axes) write(out, element);
  out.end_array();
  out.key("counts");
  out.value(value.counts);
  out.key("below");
  out.value(value.below);
  out.key("above");
  out.value(value.above);
  out.key("not_a_number");
  out.value(value.not_a_number);
  out.end_object();
}

void write(record::JsonWriter& out, const FrameList& value) {
  out.begin_object();
  out.key("change");
  out.value(value.change);
  out.key("frames");
  out.begin_array();
  for (const Frame& element : value.frames) write(out, element);
  out.end_array();
  out.end_object();
}

void write(record::JsonWriter& out, const Lamp& value) {
  out.begin_object();
  out.key("severity");
  out.value(value.severity);
  out.key("step");
  out.value(value.step);
  out.key("quantity");
  out.value(value.quantity);
  out.key("title");
  out.value(value.title);
  out.key("text");
  out.value(value.text);
  out.end_object();
}

void write(record::JsonWriter& out, const LampList& value) {
  out.begin_object();
  out.key("lamps");
  out.begin_array();
  for (const Lamp& element : value.lamps) write(out, element);
  out.end_array();
  out.end_object();
}

void write(record::JsonWriter& out, const Evidence& value) {
  out.begin_object();
  out.key("lamp");
  out.value(value.lamp);
  out.key("title");
  out.value(value.title);
  out.key("text");
  out.value(value.text);
  out.key("is_lit");
  out.value(value.is_lit);
  out.key("severity");
  out.value(value.severity);
  out.key("step");
  out.value(value.step);
  out.key("quantities");
  out.value(value.quantities);
  out.key("layers");
  out.value(value.layers);
  out.key("samples");
  out.value(value.samples);
  out.key("samples_are_positions");
  out.value(value.samples_are_positions);
  out.key("series");
  out.value(value.series);
  out.key("limits");
  out.value(value.limits);
  out.end_object();
}

void write(record::JsonWriter& out, const Weight& value) {
  out.begin_object();
  out.key("lamp");
  out.value(value.lamp);
  out.key("weight");
  out.value(value.weight);
  out.end_object();
}

void write(record::JsonWriter& out, const Cause& value) {
  out.begin_object();
  out.key("name");
  out.value(value.name);
  out.key("sentence");
  out.value(value.sentence);
  out.key("advice");
  out.value(value.advice);
  out.key("probability");
  out.value(value.probability);
  out.key("step");
  out.value(value.step);
  out.key("speaks_for");
  out.begin_array();
  for (const Weight& element : value.speaks_for) write(out, element);
  out.end_array();
  out.key("speaks_against");
  out.begin_array();
  for (const Weight& element : value.speaks_against) write(out, element);
  out.end_array();
  out.end_object();
}

void write(record::JsonWriter& out, const Diagnosis& value) {
  out.begin_object();
  out.key("verdict");
  out.value(value.verdict);
  out.key("sentence");
  out.value(value.sentence);
  out.key("confidence");
  out.value(value.confidence);
  out.key("health");
  out.value(value.health);
  out.key("causes");
  out.begin_array();
  for (const Cause& element : value.causes) write(out, element);
  out.end_array();
  out.key("evidence");
  out.begin_array();
  for (const Evidence& element : value.evidence) write(out, element);
  out.end_array();
  out.key("track");
  out.value(value.track);
  out.key("lamps");
  out.begin_array();
  for (const Lamp& element : value.lamps) write(out, element);
  out.end_array();
  out.end_object();
}

void write(record::JsonWriter& out, const Gone& value) {
  out.begin_object();
  out.key("id");
  out.value(value.id);
  out.key("change");
  out.value(value.change);
  out.end_object();
}

void write(record::JsonWriter& out, const Refusal& value) {
  out.begin_object();
  out.key("error");
  out.value(value.error);
  out.key("remedy");
  out.value(value.remedy);
  out.end_object();
}

void write(record::JsonWriter& out, const Report& value) {
  out.begin_object();
  out.key("api");
  out.value(value.api);
  out.key("made");
  out.value(value.made);
  out.key("run");
  write(out, value.run);
  out.key("points");
  out.begin_array();
  for (const Points& element : value.points) write(out, element);
  out.end_array();
  out.key("frames");
  out.begin_array();
  for (const Frame& element : value.frames) write(out, element);
  out.end_array();
  out.key("diagnosis");
  write(out, value.diagnosis);
  out.key("points_recorded");
  out.value(value.points_recorded);
  out.key("points_kept");
  out.value(value.points_kept);
  out.key("frames_recorded");
  out.value(value.frames_recorded);
  out.key("frames_kept");
  out.value(value.frames_kept);
  out.end_object();
}

}  // namespace

std::string to_json(const ServerInfo& value) {
  record::JsonWriter out;
  write(out, value);
  return out.take();
}

std::string to_json(const RunSummary& value) {
  record::JsonWriter out;
  write(out, value);
  return out.take();
}

std::string to_json(const RunList& value) {
  record::JsonWriter out;
  write(out, value);
  return out.take();
}

std::string to_json(const Parameter& value) {
  record::JsonWriter out;
  write(out, value);
  return out.take();
}

std::string to_json(const Quantity& value) {
  record::JsonWriter out;
  write(out, value);
  return out.take();
}

std::string to_json(const Series& value) {
  record::JsonWriter out;
  write(out, value);
  return out.take();
}

std::string to_json(const Note& value) {
  record::JsonWriter out;
  write(out, value);
  return out.take();
}

std::string to_json(const Clock& value) {
  record::JsonWriter out;
  write(out, value);
  return out.take();
}

std::string to_json(const RunDetails& value) {
  record::JsonWriter out;
  write(out, value);
  return out.take();
}

std::string to_json(const Points& value) {
  record::JsonWriter out;
  write(out, value);
  return out.take();
}

std::string to_json(const PointsList& value) {
  record::JsonWriter out;
  write(out, value);
  return out.take();
}

std::string to_json(const Axis& value) {
  record::JsonWriter out;
  write(out, value);
  return out.take();
}

std::string to_json(const Frame& value) {
  record::JsonWriter out;
  write(out, value);
  return out.take();
}

std::string to_json(const FrameList& value) {
  record::JsonWriter out;
  write(out, value);
  return out.take();
}

std::string to_json(const Lamp& value) {
  record::JsonWriter out;
  write(out, value);
  return out.take();
}

std::string to_json(const LampList& value) {
  record::JsonWriter out;
  write(out, value);
  return out.take();
}

std::string to_json(const Evidence& value) {
  record::JsonWriter out;
  write(out, value);
  return out.take();
}

std::string to_json(const Weight& value) {
  record::JsonWriter out;
  write(out, value);
  return out.take();
}

std::string to_json(const Cause& value) {
  record::JsonWriter out;
  write(out, value);
  return out.take();
}

std::string to_json(const Diagnosis& value) {
  record::JsonWriter out;
  write(out, value);
  return out.take();
}

std::string to_json(const Gone& value) {
  record::JsonWriter out;
  write(out, value);
  return out.take();
}

std::string to_json(const Refusal& value) {
  record::JsonWriter out;
  write(out, value);
  return out.take();
}

std::string to_json(const Report& value) {
  record::JsonWriter out;
  write(out, value);
  return out.take();
}

}  // namespace flightdeck::serve::wire

// SPDX-License-Identifier: MIT
#include "record/entry.h"

#include <algorithm>
#include <stdexcept>

#include "base/limits.h"
#include "record/blobs.h"
#include "record/bytes.h"
#include "record/damage.h"
#include "record/reading_fault.h"
#include "record/run_texts.h"

namespace flightdeck::record {

namespace {

// The first byte of a payload; the numbers are part of the format.
enum class EntryKind : uint8_t { kInfo = 1, kStep = 2, kNote = 3, kEnding = 4 };

void put_kind(std::string& out, EntryKind kind) { out += static_cast<char>(kind); }
void put_integer(std::string& out, int64_t value) { put_varint(out, static_cast<uint64_t>(value)); }

void put_reading(std::string& out, const Reading& reading) {
  out += static_cast<char>(reading.kind);
  put_string(out, reading.quantity);
  put_string(out, reading.field);
  put_string(out, reading.group);
  switch (reading.kind) {
    case ReadingKind::kNumber:
      put_double(out, reading.number);
      break;
    case ReadingKind::kList:
      put_string(out, list_blob(reading.list));
      break;
    case ReadingKind::kHistogram:
      put_string(out, histogram_blob(reading));
      break;
  }
}

size_t get_count(ByteReader& bytes, size_t bytes_each, int64_t most, const char* what) {
  const size_t count = bytes.count(bytes_each);
  if (count > static_cast<size_t>(most)) {
    damaged("an entry has " + std::to_string(count) + " " + what + ", more than " +
            std::to_string(most));
  }
  return count;
}

// Reads a reading and takes its numbers from `numbers_left` of the entry.
Reading get_reading(ByteReader& bytes, int64_t& numbers_left) {
  Reading reading;
  const uint8_t kind = bytes.u8();
  reading.quantity = bytes.string();
  reading.field = bytes.string();
  reading.group = bytes.string();
  const std::string fault = name_fault(reading.quantity, reading.field, reading.group);
  if (!fault.empty()) damaged("a reading " + fault);
  reading.kind = static_cast<ReadingKind>(kind);
  switch (reading.kind) {
    case ReadingKind::kNumber:
      reading.number = bytes.number();
      return reading;
    case ReadingKind::kList:
      reading.list = list_of_blob(bytes.take(bytes.count()));
      return reading;
    case ReadingKind::kHistogram:
      read_histogram_blob(
          bytes.take(bytes.count()), reading, std::min(limits::kBins, numbers_left));
      numbers_left -= static_cast<int64_t>(reading.counts.size());
      return reading;
  }
  damaged("unknown kind of reading " + std::to_string(kind));
}

RunInfo get_info(ByteReader& bytes) {
  RunInfo info;
  info.start_time = bytes.number();
  for (const auto& each : run_texts(info)) *each.text = bytes.string();
  // Here and below the second argument is the fewest bytes of each: the lengths of its strings.
  info.parameters.resize(get_count(bytes, 3, limits::kNames, "parameters"));
  for (ParameterInfo& parameter : info.parameters) {
    parameter.name = bytes.string();
    parameter.type = bytes.string();
    parameter.shape.resize(get_count(bytes, 1, limits::kDimensions, "dimensions"));
    for (int64_t& size : parameter.shape) size = bytes.integer();
  }
  info.groups.resize(get_count(bytes, 1, limits::kNames, "groups"));
  for (std::string& group : info.groups) group = bytes.string();
  info.quantities.resize(get_count(bytes, 5, limits::kNames, "quantities"));
  for (QuantityInfo& quantity : info.quantities) {
    for (std::string* text : quantity_texts(quantity)) *text = bytes.string();
  }
  for (size_t left = get_count(bytes, 2, limits::kNames, "settings"); left > 0; --left) {
    std::string key = bytes.string();
    info.config[std::move(key)] = bytes.string();
  }
  return info;
}

StepReadings get_step(ByteReader& bytes) {
  StepReadings step;
  step.step = bytes.integer();
  step.time = bytes.number();
  // A reading has at least its kind, the lengths of its names, and that of its blob.
  const size_t count = get_count(bytes, 5, limits::kEntryReadings, "readings");
  step.readings.reserve(count);
  int64_t numbers_left = limits::kEntryNumbers;
  while (step.readings.size() < count) step.readings.push_back(get_reading(bytes, numbers_left));
  return step;
}

Note get_note(ByteReader& bytes) {
  Note note;
  note.step = bytes.integer();
  note.time = bytes.number();
  const uint8_t kind = bytes.u8();
  if (kind > static_cast<uint8_t>(NoteKind::kNotStored)) {
    damaged("unknown kind of note " + std::to_string(kind));
  }
  note.kind = static_cast<NoteKind>(kind);
  note.quantity = bytes.string();
  note.text = bytes.string();
  return note;
}

}  // namespace

void put_entry(std::string& out, const RunInfo& info) {
  put_kind(out, EntryKind::kInfo);
  put_double(out, info.start_time);
  for (const auto& each : run_texts(info)) put_string(out, *each.text);
  put_varint(out, info.parameters.size());
  for (const ParameterInfo& parameter : info.parameters) {
    put_string(out, parameter.name);
    put_string(out, parameter.type);
    put_varint(out, parameter.shape.size());
    for (const int64_t size : parameter.shape) put_integer(out, size);
  }
  put_varint(out, info.groups.size());
  for (const std::string& group : info.groups) put_string(out, group);
  put_varint(out, info.quantities.size());
  for (const QuantityInfo& quantity : info.quantities) {
    for (const std::string* text : quantity_texts(quantity)) put_string(out, *text);
  }
  put_varint(out, info.config.size());
  for (const auto& [key, value] : info.config) {
    put_string(out, key);
    put_string(out, value);
  }
}

void put_entry(std::string& out, const StepReadings& step) {
  put_kind(out, EntryKind::kStep);
  put_integer(out, step.step);
  put_double(out, step.time);
  put_varint(out, step.readings.size());
  for (const Reading& reading : step.readings) put_reading(out, reading);
}

void put_entry(std::string& out, const Note& note) {
  put_kind(out, EntryKind::kNote);
  put_integer(out, note.step);
  put_double(out, note.time);
  out += static_cast<char>(note.kind);
  put_string(out, note.quantity);
  put_string(out, note.text);
}

void put_entry(std::string& out, const EndEntry& ending) {
  put_kind(out, EntryKind::kEnding);
  put_string(out, ending.word);
}

Entry read_entry(std::string_view payload) {
  ByteReader bytes(payload);
  const uint8_t kind = bytes.u8();
  switch (static_cast<EntryKind>(kind)) {
    case EntryKind::kInfo:
      return get_info(bytes);
    case EntryKind::kStep:
      return get_step(bytes);
    case EntryKind::kNote:
      return get_note(bytes);
    case EntryKind::kEnding:
      return EndEntry{bytes.string()};
  }
  damaged("unknown kind of journal entry " + std::to_string(kind));
}

}  // namespace flightdeck::record

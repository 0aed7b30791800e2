// SPDX-License-Identifier: MIT
#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <stdexcept>

#include "base/host_name.h"
#include "base/limits.h"
#include "flightdeck/record.h"
#include "record/blobs.h"
#include "record/bytes.h"
#include "record/number_budget.h"
#include "record/run_texts.h"
#include "record/series_cursor.h"
#include "record/stretch_reader.h"
#include "record/view.h"

namespace flightdeck {

namespace {

// A run of another machine that has written nothing for so long counts as dead.
constexpr std::chrono::seconds kStillWritten{60};

// Reads a shape such as "[16, 1, 5, 5]".
std::vector<int64_t> shape_of(const std::string& text) {
  std::vector<int64_t> shape;
  const char* const end = text.data() + text.size();
  for (const char* next = text.data(); next != end;) {
    if (*next < '0' || *next > '9') {
      ++next;
      continue;
    }
    const auto [rest, error] = std::from_chars(next, end, shape.emplace_back());
    if (error != std::errc() || shape.size() > limits::kDimensions) {
      throw std::runtime_error("record: a parameter has the shape '" + text.substr(0, 60) +
                               "', which is none of up to " + std::to_string(limits::kDimensions) +
                               " sizes below 2^63; the record is damaged");
    }
    next = rest;
  }
  return shape;
}

// Limits what one answer takes from a database: as much as an entry of the journal may have.
class TextBudget {
 public:
  explicit TextBudget(int64_t bytes) : left_(bytes) {}
  std::string take(std::string text) {
    left_ -= static_cast<int64_t>(text.size());
    if (left_ < 0) throw std::runtime_error("record: its texts are too long; it is damaged");
    return text;
  }

 private:
  int64_t left_;
};

void check_room(size_t count, const char* what) {
  if (count < static_cast<size_t>(limits::kNames)) return;
  throw std::runtime_error("record: the run has more than " + std::to_string(limits::kNames) + " " +
                           what + "; the record is damaged");
}

NoteKind note_kind(const std::string& name) {
  for (const NoteKind kind : {NoteKind::kSwitchedOff, NoteKind::kNotStored}) {
    if (name == to_string(kind)) return kind;
  }
  return NoteKind::kRemark;
}

std::string stored_ending(const record::Database& database) {
  record::Statement row(database, "SELECT value FROM meta WHERE key = 'ending'");
  return row.step() ? row.text(0) : "";
}

RunInfo stored_info(const record::Database& database) {
  RunInfo info;
  std::map<std::string, std::string*> texts;
  for (const auto& each : record::run_texts(info)) texts[each.name] = each.text;
  TextBudget budget(limits::kEntryBytes);
  const auto text = [&budget](const record::Statement& row, int column) {
    return budget.take(row.text(column));
  };
  record::Statement meta(database, "SELECT key, value FROM meta");
  while (meta.step()) {
    const std::string key = meta.text(0);
    const auto place = texts.find(key);
    if (place != texts.end()) *place->second = text(meta, 1);
    if (key == "start_time") info.start_time = meta.number(1);
  }
  record::Statement config(database, "SELECT key, value FROM config");
  while (config.step()) {
    check_room(info.config.size(), "settings");
    std::string key = text(config, 0);
    info.config[std::move(key)] = text(config, 1);
  }
  record::Statement parameters(database,
                               "SELECT name, shape, type FROM parameters ORDER BY position");
  while (parameters.step()) {
    check_room(info.parameters.size(), "parameters");
    info.parameters.push_back(
        {text(parameters, 0), shape_of(text(parameters, 1)), text(parameters, 2)});
  }
  record::Statement groups(database, "SELECT name FROM parameter_groups ORDER BY position");
  while (groups.step()) {
    check_room(info.groups.size(), "groups");
    info.groups.push_back(text(groups, 0));
  }
  record::Statement rows(
      database, "SELECT name, summary, schedule, settings, cost FROM quantities ORDER BY position");
  while (rows.step()) {
    check_room(info.quantities.size(), "quantities");
    int column = 0;
    for (std::string* each : record::quantity_texts(info.quantities.emplace_back())) {
      *each = text(rows, column++);
    }
  }
  return info;
}

RunInfo info_of(const record::View& view) {
  if (view.tail->info) return *view.tail->info;
  return view.database ? stored_info(*view.database) : RunInfo();
}

// Says whether a run of another machine still grows. Many network file systems do not show the lock
// that a recorder holds elsewhere, but all show that its files change.
bool is_written_elsewhere(const record::Folder& folder, const std::string& host) {
  if (host.empty() || host == host_name()) return false;
  const auto now = std::filesystem::file_time_type::clock::now();
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder.path(), error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code unreadable;
    const auto written = entry->last_write_time(unreadable);
    if (!unreadable && now - written < kStillWritten) return true;
  }
  return false;
}

// Returns the status of a run. `was_running` was asked before the view was opened, so a run that
// ended in between has its ending in the view.
RunStatus status_of(const record::Folder& folder, const record::View& view, bool was_running) {
  if (view.tail->ending) return status_of(ending_of(*view.tail->ending));
  const std::string ending = view.database ? stored_ending(*view.database) : "";
  if (!ending.empty()) return status_of(ending_of(ending));
  if (was_running || is_written_elsewhere(folder, info_of(view).host)) return RunStatus::kRunning;
  return RunStatus::kKilled;
}

std::vector<LastNumber> last_numbers_of(const record::View& view) {
  std::vector<LastNumber> numbers;
  std::optional<record::Statement> row;
  if (view.database) {
    row.emplace(*view.database, "SELECT time, value FROM numbers WHERE series = ? AND step = ?");
  }
  for (const SeriesInfo& series : view.tail->series) {
    if (series.kind != ReadingKind::kNumber || !series.group.empty()) continue;
    const auto& values = view.tail->values_of(series.id);
    const auto value = values.find(series.last_step);
    if (value != values.end()) {
      const record::TailValue& last = value->second;
      numbers.push_back({series, {series.last_step, last.time, last.reading.number}});
    } else if (row && row->bind(1, series.id).bind(2, series.last_step).step()) {
      numbers.push_back({series, {series.last_step, row->number(0), row->number(1)}});
    }
    if (row) row->reset();
  }
  return numbers;
}

static_assert(limits::kReadSeconds == 60 && limits::kReadNumbers == int64_t{1} << 27,
              "flightdeck/record.h states them");

void require_one(const char* call, int64_t at_most) {
  if (at_most < 1) {
    throw std::invalid_argument("record: " + std::string(call) + " got at_most " +
                                std::to_string(at_most) + "; ask for at least 1");
  }
}

}  // namespace

class RunReader::State {
 public:
  State(const std::string& path, ReadOptions options)
      : folder_(path), options_(std::move(options)) {
    if (!folder_.holds_run()) {
      throw std::invalid_argument("record: '" + path +
                                  "' holds no run; name the folder that a run was recorded to");
    }
    view();
  }

  const record::Folder& folder() const { return folder_; }

  record::View view() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    const record::Patience patience(options_.patience_s, options_.stop);
    return record::open_view(folder_, tails_, copy_, patience);
  }

  const SeriesInfo& series(const record::View& view, int64_t id) const {
    const SeriesInfo* series = view.tail->find(id);
    if (series == nullptr) {
      throw std::invalid_argument("record: there is no series " + std::to_string(id) + " in '" +
                                  folder_.path() + "', which has " +
                                  std::to_string(view.tail->series.size()) +
                                  "; take the id from series()");
    }
    return *series;
  }

 private:
  record::Folder folder_;
  ReadOptions options_;
  mutable std::mutex mutex_;
  mutable record::TailKeeper tails_;
  mutable record::KeptCopy copy_;
};

RunReader::RunReader(const std::string& folder, ReadOptions options)
    : state_(std::make_unique<State>(folder, std::move(options))) {}
RunReader::~RunReader() = default;
RunReader::RunReader(RunReader&&) noexcept = default;

bool RunReader::is_run(const std::string& folder) { return record::Folder(folder).holds_run(); }

std::string RunReader::fingerprint(const std::string& folder) {
  return record::Folder(folder).fingerprint();
}

RunInfo RunReader::info() const { return info_of(state_->view()); }

RunStatus RunReader::status() const {
  const bool was_running = state_->folder().is_being_written();
  return status_of(state_->folder(), state_->view(), was_running);
}

RunSummary RunReader::summary() const {
  const bool was_running = state_->folder().is_being_written();
  const record::View view = state_->view();
  RunSummary summary;
  summary.info = info_of(view);
  summary.status = status_of(state_->folder(), view, was_running);
  summary.last_step = view.tail->last_step;
  summary.last_time = view.tail->last_time;
  summary.numbers = last_numbers_of(view);
  return summary;
}

double RunReader::last_time() const { return state_->view().tail->last_time; }
int64_t RunReader::last_step() const { return state_->view().tail->last_step; }
// Leaves out series that a resumed run forgot and has not come to again.
std::vector<SeriesInfo> RunReader::series() const {
  std::vector<SeriesInfo> all = state_->view().tail->series;
  const auto is_empty = [](const SeriesInfo& series) { return series.count == 0; };
  all.erase(std::remove_if(all.begin(), all.end(), is_empty), all.end());
  return all;
}

std::unique_ptr<SeriesInfo> RunReader::find(const std::string& quantity,
                                            const std::string& group,
                                            const std::string& field) const {
  for (const SeriesInfo& series : state_->view().tail->series) {
    if (series.count > 0 && series.quantity == quantity && series.group == group &&
        series.field == field) {
      return std::make_unique<SeriesInfo>(series);
    }
  }
  return nullptr;
}

std::vector<NumberPoint> RunReader::numbers(int64_t series,
                                            const StepRange& range,
                                            int64_t at_most) const {
  require_one("numbers", at_most);
  const record::View view = state_->view();
  const SeriesInfo& info = state_->series(view, series);
  if (info.kind != ReadingKind::kNumber) {
    throw std::invalid_argument("record: series " + std::to_string(series) + " ('" + info.quantity +
                                "') is of kind " + to_string(info.kind) +
                                ", not number; call readings");
  }
  std::vector<NumberPoint> points;
  record::SeriesCursor cursor(view, info, range);
  while (static_cast<int64_t>(points.size()) < at_most && cursor.next()) {
    points.push_back({cursor.step(), cursor.time(), cursor.number()});
  }
  return points;
}

std::vector<NumberStretch> RunReader::stretches(int64_t series,
                                                const StepRange& range,
                                                int64_t at_most) const {
  require_one("stretches", at_most);
  const record::View view = state_->view();
  return record::read_stretches(view, state_->series(view, series), range, at_most);
}

std::vector<LastNumber> RunReader::last_numbers() const { return last_numbers_of(state_->view()); }

std::vector<std::pair<int64_t, Reading>> RunReader::frames(int64_t series,
                                                           const StepRange& range,
                                                           int64_t at_most,
                                                           int64_t most_numbers) const {
  require_one("frames", at_most);
  const record::View view = state_->view();
  record::NumberBudget budget(most_numbers);
  return record::read_frames(view, state_->series(view, series), range, at_most, budget);
}

std::vector<std::pair<int64_t, Reading>> RunReader::readings(int64_t series,
                                                             const StepRange& range) const {
  const record::View view = state_->view();
  std::vector<std::pair<int64_t, Reading>> readings;
  record::SeriesCursor cursor(view, state_->series(view, series), range);
  record::NumberBudget budget(limits::kReadNumbers);
  while (cursor.next()) {
    readings.emplace_back(cursor.step(), budget.take(cursor.reading(budget.left())));
  }
  return readings;
}

void RunReader::for_each_step(const std::function<void(const StepReadings&)>& visit,
                              const StepRange& range) const {
  const record::View view = state_->view();
  std::vector<record::SeriesCursor> cursors;
  cursors.reserve(view.tail->series.size());
  for (const SeriesInfo& series : view.tail->series) {
    record::SeriesCursor cursor(view, series, range);
    if (cursor.next()) cursors.push_back(std::move(cursor));
  }
  while (!cursors.empty()) {
    StepReadings step;
    step.step = std::min_element(cursors.begin(), cursors.end(), [](const auto& a, const auto& b) {
                  return a.step() < b.step();
                })->step();
    bool is_over = false;
    record::NumberBudget budget(limits::kReadNumbers);
    for (record::SeriesCursor& cursor : cursors) {
      if (cursor.step() != step.step) continue;
      step.time = step.readings.empty() ? cursor.time() : std::max(step.time, cursor.time());
      step.readings.push_back(budget.take(cursor.reading(budget.left())));
      is_over |= !cursor.next();
    }
    visit(step);
    view.patience->renew();
    if (!is_over) continue;
    cursors.erase(
        std::remove_if(
            cursors.begin(), cursors.end(), [](const auto& cursor) { return cursor.is_over(); }),
        cursors.end());
  }
}

std::vector<Note> RunReader::notes() const {
  const record::View view = state_->view();
  std::vector<Note> notes;
  if (view.database) {
    record::Statement rows(*view.database,
                           "SELECT step, time, kind, quantity, text FROM notes ORDER BY id");
    TextBudget budget(limits::kTailBytes);
    while (rows.step()) {
      notes.push_back({rows.integer(0),
                       rows.number(1),
                       note_kind(rows.text(2)),
                       budget.take(rows.text(3)),
                       budget.take(rows.text(4))});
    }
  }
  notes.insert(notes.end(), view.tail->notes.begin(), view.tail->notes.end());
  return notes;
}

}  // namespace flightdeck

// SPDX-License-Identifier: MIT
// The recorder. Every call goes to the journal before it returns, and a thread of its own takes it
// on to the database.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <deque>
#include <filesystem>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <unistd.h>
#include <utility>

#include "base/clock.h"
#include "base/disk_remedy.h"
#include "base/limits.h"
#include "flightdeck/record.h"
#include "record/entry.h"
#include "record/folder.h"
#include "record/journal.h"
#include "record/reading_fault.h"
#include "record/reopen.h"
#include "record/store_thread.h"

namespace flightdeck {

namespace {

// What a failing disk refuses waits in memory, up to the bytes of so many journal files. That
// covers minutes without a network disk, or hours in most runs.
constexpr int64_t kWaitingJournals = 4;
// A disk that takes longer than this to fail gets at most one part in so many of the training's
// time.
constexpr std::chrono::milliseconds kQuick(1);
constexpr int kPatience = 20;

struct Waiting {
  std::string payload;
  std::optional<int64_t> step;  // of a call of write
};

void warn_on_stderr(const std::string& text) {
  std::fprintf(stderr, "flightdeck: %s\n", text.c_str());
}

std::string steps_text(int64_t first, int64_t last) {
  return first == last ? "step " + std::to_string(first)
                       : "steps " + std::to_string(first) + " to " + std::to_string(last);
}

// Returns true if the step has more than a reader takes of one entry.
bool is_too_large(const StepReadings& step) {
  size_t numbers = 0;
  for (const Reading& reading : step.readings) numbers += reading.counts.size();
  return numbers > limits::kEntryNumbers || step.readings.size() > limits::kEntryReadings;
}

[[noreturn]] void refuse(const record::Folder& folder) {
  if (folder.is_being_written()) {
    throw std::runtime_error("record: '" + folder.path() +
                             "' is being recorded to by another recorder; choose another folder");
  }
  throw std::runtime_error("record: '" + folder.path() +
                           "' already holds a run; choose another folder, or remove this one");
}

}  // namespace

class Recorder::State {
 public:
  State(const std::string& path, RecorderOptions options)
      : folder_(path), journal_(folder_, options.journal_bytes), options_(std::move(options)) {
    if (!options_.on_warning) options_.on_warning = warn_on_stderr;
    open_error_ = open();
    if (open_error_ != 0) {
      unlock();
      warn_once("record: '" + path + "' cannot be written (" + record::error_text(open_error_) +
                "); training goes on, nothing is stored; " + disk_remedy(open_error_));
      return;
    }
    thread_ =
        std::make_unique<record::StoreThread>(folder_, options_.queue_steps, std::move(resumed_));
  }

  ~State() {
    next_attempt_ = {};
    catch_up();
    close({});
  }

  void write(const StepReadings& step) {
    refuse_after_end("write");
    const auto is_sound = [](const Reading& reading) {
      return record::reading_fault(reading).empty();
    };
    const bool is_good = std::all_of(step.readings.begin(), step.readings.end(), is_sound);
    is_good ? write_all(step) : write_sound(step);
  }

  // Leaves out what readers would take for damage, and says so once for each quantity.
  void write_sound(StepReadings step) {
    std::vector<Reading> sound;
    for (Reading& reading : step.readings) {
      const std::string fault = record::reading_fault(reading);
      if (fault.empty()) {
        sound.push_back(std::move(reading));
        continue;
      }
      const std::string name = reading.quantity.substr(0, 100);
      if (!refused_.insert(name).second) continue;
      keep(Note{step.step,
                seconds_since_1970(),
                NoteKind::kNotStored,
                name,
                "a reading " + fault + "; it is left out, and so are others like it"});
    }
    step.readings = std::move(sound);
    write_all(step);
  }

  void write_all(const StepReadings& step) {
    if (is_too_large(step)) {
      lose(step.step, EFBIG);
    } else {
      put({encode(step), step.step});
    }
    go_on();
  }

  // Begins the run. One that goes on keeps its first time of beginning.
  void begin(RunInfo info) {
    if (!begun_at_) begun_at_ = info.start_time;
    if (info.start_time != *begun_at_) {
      throw std::logic_error("record: '" + folder_.path() +
                             "' is being recorded to by another run; give each cockpit a recorder "
                             "of its own");
    }
    if (start_time_) info.start_time = *start_time_;
    keep(info);
  }

  template <typename Content>
  void keep(const Content& content) {
    refuse_after_end("note");
    put({encode(content), std::nullopt});
    go_on();
  }

  void finish(Ending ending) {
    if (has_ended_) return;
    has_ended_ = true;
    next_attempt_ = {};
    catch_up();
    std::vector<std::string> rest;
    for (const Waiting& each : waiting_) rest.push_back(each.payload);
    if (lost_.calls > 0) rest.push_back(encode(loss_note()));
    rest.push_back(encode(record::EndEntry{to_string(ending)}));
    while (!rest.empty() && waiting_.empty() && append_one(rest.front()) == 0) {
      rest.erase(rest.begin());
    }
    const bool is_missing = !rest.empty();
    const bool is_complete = close(std::move(rest));
    for (const Waiting& each : waiting_) {
      if (is_complete) {
        count(each);
      } else if (each.step) {
        lose(*each.step, last_error_);
      }
    }
    waiting_.clear();
    if (is_missing && !is_complete) {
      options_.on_warning("record: '" + folder_.path() + "' does not say how the run ended" +
                          (lost_.calls > 0 ? " and lacks " + loss_text() : std::string()));
    }
  }

  RecorderStatistics statistics() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return statistics_;
  }

 private:
  struct Lost {
    int64_t calls = 0, first = 0, last = 0;
    int error = 0;
  };

  // Opens the folder. Returns 0 or the error number of what keeps it from being written.
  int open() {
    std::error_code error;
    std::filesystem::create_directories(folder_.path(), error);
    if (error) return error.value();
    if (folder_.holds_run() && !options_.resume_at) refuse(folder_);
    switch (lock_.take(folder_)) {
      case record::LockResult::kNoFile:
        return errno;
      case record::LockResult::kHeldByAnother:
        refuse(folder_);
      case record::LockResult::kTaken:
        break;
    }
    if (!folder_.holds_run()) return journal_.open();
    // Another recorder may have come and gone between the two looks.
    if (!options_.resume_at) refuse(folder_);
    resumed_ = record::reopen(folder_, *options_.resume_at, journal_);
    // The time is 0 if the recorder died before the run began.
    if (const double time = resumed_->start_time(); time > 0) start_time_ = time;
    return 0;
  }

  template <typename Content>
  std::string encode(const Content& content) const {
    std::string payload;
    record::put_entry(payload, content);
    return payload;
  }

  int append_one(const std::string& payload) {
    if (!thread_) return open_error_;
    const int error = journal_.append(payload);
    if (error == 0) thread_->add();
    return error;
  }

  // Stores the entry behind those that wait, lets it wait, or loses it.
  void put(Waiting entry) {
    if (catch_up() && attempt(entry)) {
      if (lost_.calls > 0 && append_one(encode(loss_note())) == 0) lost_ = {};
      return;
    }
    const auto bytes = static_cast<int64_t>(entry.payload.size());
    const bool can_wait = thread_ && bytes <= limits::kEntryBytes &&
                          waiting_bytes_ + bytes <= kWaitingJournals * options_.journal_bytes;
    if (can_wait) {
      warn_of_wait(last_error_);
      waiting_bytes_ += bytes;
      waiting_.push_back(std::move(entry));
    } else if (entry.step) {
      lose(*entry.step, last_error_);
    } else {
      warn_of_loss("an entry", last_error_);
    }
  }

  // Stores what waits and returns true if nothing waits any more. A disk that takes long to fail is
  // not asked at every step.
  bool catch_up() {
    if (waiting_.empty()) return true;
    if (std::chrono::steady_clock::now() < next_attempt_) return false;
    while (!waiting_.empty() && attempt(waiting_.front())) {
      waiting_bytes_ -= static_cast<int64_t>(waiting_.front().payload.size());
      waiting_.pop_front();
    }
    return waiting_.empty();
  }

  // Returns true if the journal has the entry.
  bool attempt(const Waiting& entry) {
    const auto begin = std::chrono::steady_clock::now();
    last_error_ = append_one(entry.payload);
    if (last_error_ == 0) {
      count(entry);
      return true;
    }
    const auto end = std::chrono::steady_clock::now();
    next_attempt_ = end - begin > kQuick ? end + kPatience * (end - begin) : end;
    return false;
  }

  void count(const Waiting& entry) {
    if (!entry.step) return;
    const std::lock_guard<std::mutex> lock(mutex_);
    ++statistics_.written;
  }

  void lose(int64_t step, int error) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      ++statistics_.not_stored;
    }
    lost_.first = lost_.calls == 0 ? step : std::min(lost_.first, step);
    lost_.last = lost_.calls == 0 ? step : std::max(lost_.last, step);
    lost_.error = error;
    ++lost_.calls;
    warn_of_loss("step " + std::to_string(step), error);
  }

  std::string loss_text() const {
    return steps_text(lost_.first, lost_.last) + " (" + std::to_string(lost_.calls) +
           (lost_.calls == 1 ? " call): " : " calls): ") + record::error_text(lost_.error);
  }

  Note loss_note() const {
    return {lost_.first,
            seconds_since_1970(),
            NoteKind::kNotStored,
            "",
            "could not store " + loss_text()};
  }

  void warn_of_wait(int error) {
    warn_once("record: '" + folder_.path() + "' takes nothing at the moment (" +
              record::error_text(error) +
              "); training goes on, and what is recorded waits in memory for the disk; should that "
              "take too long, the record will say which steps are missing; " +
              disk_remedy(error));
  }

  void warn_of_loss(const std::string& what, int error) {
    warn_once("record: " + what + " could not be stored in '" + folder_.path() + "' (" +
              record::error_text(error) +
              "); training goes on, and the record will say which steps are missing; " +
              disk_remedy(error));
  }

  // Warns once, because a failing disk fails in many ways.
  void warn_once(const std::string& text) {
    if (text.empty() || has_warned_) return;
    has_warned_ = true;
    options_.on_warning(text);
  }

  void go_on() {
    if (!thread_) return;
    const double seconds = thread_->wait_for_room();
    if (seconds > 0) {
      const std::lock_guard<std::mutex> lock(mutex_);
      ++statistics_.waits;
      statistics_.wait_seconds += seconds;
    }
    warn_once(thread_->take_warning());
  }

  void refuse_after_end(const char* call) const {
    if (has_ended_) {
      throw std::logic_error("record: " + std::string(call) + " after finish on '" +
                             folder_.path() + "'; finish once, at the end");
    }
  }

  bool close(std::vector<std::string> rest) {
    if (!thread_) return false;
    const bool is_complete = thread_->finish(std::move(rest));
    warn_once(thread_->take_warning());
    thread_.reset();
    unlock();
    return is_complete;
  }

  void unlock() {
    if (lock_.is_held()) ::unlink(folder_.lock().c_str());
    lock_.release();
  }

  const record::Folder folder_;
  record::FolderLock lock_;
  record::JournalWriter journal_;
  std::unique_ptr<record::Store> resumed_;  // until the thread has it
  std::optional<double> start_time_;        // of a run that goes on
  std::optional<double> begun_at_;          // the time that was told first
  int open_error_ = 0;
  RecorderOptions options_;
  std::unique_ptr<record::StoreThread> thread_;

  std::set<std::string> refused_;  // quantities with readings that were left out
  std::deque<Waiting> waiting_;
  int64_t waiting_bytes_ = 0;
  std::chrono::steady_clock::time_point next_attempt_;
  int last_error_ = 0;
  Lost lost_;
  bool has_warned_ = false, has_ended_ = false;

  mutable std::mutex mutex_;
  RecorderStatistics statistics_;
};

Recorder::Recorder(const std::string& folder, RecorderOptions options)
    : state_(std::make_unique<State>(folder, std::move(options))) {}

Recorder::~Recorder() = default;

void Recorder::begin(const RunInfo& info) { state_->begin(info); }
void Recorder::write(const StepReadings& step) { state_->write(step); }
void Recorder::note(const Note& note) { state_->keep(note); }
void Recorder::finish(Ending ending) { state_->finish(ending); }

RecorderStatistics Recorder::statistics() const { return state_->statistics(); }

}  // namespace flightdeck

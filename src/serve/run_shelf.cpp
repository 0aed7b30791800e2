// SPDX-License-Identifier: MIT
#include "serve/run_shelf.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <future>
#include <list>
#include <map>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "base/limits.h"
#include "record/folder.h"
#include "serve/answers.h"
#include "serve/run_finder.h"

namespace flightdeck::serve {

namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kReaders = 32;
constexpr size_t kRemembered = 10000;  // runs that went away
constexpr std::chrono::seconds kFirstLook{2};
// Runs that have ended rarely change. What removes or replaces them changes the folder above.
constexpr std::chrono::seconds kEndedAgain{10};
constexpr std::chrono::milliseconds kSlow{500};

std::filesystem::path checked_folder(const std::string& folder) {
  std::error_code error;
  const auto path = std::filesystem::canonical(folder, error);
  if (error || !std::filesystem::is_directory(path, error)) {
    throw std::invalid_argument("serve: there is no folder '" + folder +
                                "'; record a run into it with flightdeck run, or make it");
  }
  return path;
}

// Holds a run as it was when it was last looked at.
struct Entry {
  std::string identity, fingerprint;
  wire::RunSummary summary;
  Clock::time_point looked{};
  // A run that takes long to read is left alone for ten times as long, so that others are looked
  // at.
  Clock::time_point rests_until{};

  bool is_running() const { return has_status(summary, RunStatus::kRunning); }
};

// Keeps the readers used last.
class Readers {
 public:
  std::shared_ptr<const RunReader> find(const std::string& id) {
    for (auto reader = readers_.begin(); reader != readers_.end(); ++reader) {
      if (reader->first != id) continue;
      readers_.splice(readers_.begin(), readers_, reader);
      return readers_.front().second;
    }
    return nullptr;
  }
  void keep(const std::string& id, std::shared_ptr<const RunReader> reader) {
    drop(id);
    readers_.emplace_front(id, std::move(reader));
    if (readers_.size() > kReaders) readers_.pop_back();
  }
  void drop(const std::string& id) {
    readers_.remove_if([&](const auto& reader) { return reader.first == id; });
  }

 private:
  std::list<std::pair<std::string, std::shared_ptr<const RunReader>>> readers_;
};

}  // namespace

class RunShelf::State {
 public:
  State(const std::string& folder, int64_t refresh_ms)
      : path_(checked_folder(folder)),
        folder_(path_.string()),
        refresh_(refresh_ms),
        finder_(path_, stop_),
        looking_([this] { keep_looking(); }) {}
  ~State() { stop(); }

  const std::string& folder() const { return folder_; }

  void stop() {
    stop_->store(true);
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      is_over_ = true;
    }
    changed_.notify_all();
    stopping_.notify_all();
    const std::lock_guard<std::mutex> lock(joining_);
    if (looking_.joinable()) looking_.join();
  }

  wire::RunList list() {
    wire::RunList list;
    {
      std::unique_lock<std::mutex> lock(mutex_);
      wait_for_first_look(lock);
      list.change = change_;
      for (const auto& [id, entry] : entries_) list.runs.push_back(entry.summary);
    }
    std::stable_sort(list.runs.begin(), list.runs.end(), [](const auto& a, const auto& b) {
      return a.start_time > b.start_time;
    });
    return list;
  }

  int64_t count() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return static_cast<int64_t>(entries_.size());
  }

  bool has_looked() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return has_looked_;
  }

  std::optional<wire::RunSummary> find(const std::string& id) {
    std::unique_lock<std::mutex> lock(mutex_);
    if (entries_.count(id) == 0) wait_for_first_look(lock);
    const auto found = entries_.find(id);
    if (found == entries_.end()) return std::nullopt;
    return found->second.summary;
  }

  std::shared_ptr<const RunReader> open(const std::string& id) {
    {
      std::unique_lock<std::mutex> lock(mutex_);
      if (entries_.count(id) == 0) wait_for_first_look(lock);
      // Names from outside become paths only if the finder has come across them.
      if (entries_.count(id) == 0) return nullptr;
      if (auto reader = readers_.find(id)) return reader;
    }
    auto reader =
        std::make_shared<const RunReader>((path_ / id).string(), options(limits::kAnswerSeconds));
    const std::lock_guard<std::mutex> lock(mutex_);
    if (entries_.count(id) != 0) readers_.keep(id, reader);
    return reader;
  }

  std::optional<wire::RunSummary> label(const std::string& id,
                                        const std::function<void(record::Labels&)>& change) {
    if (!find(id)) return std::nullopt;
    const record::Labels labels = record::change_labels((path_ / id).string(), change);
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = entries_.find(id);
    if (found == entries_.end()) return std::nullopt;
    add_labels(found->second.summary, labels);
    found->second.summary.change = ++change_;
    changed_.notify_all();
    return found->second.summary;
  }

  ShelfChanges since(int64_t change) const {
    ShelfChanges changes;
    const std::lock_guard<std::mutex> lock(mutex_);
    changes.change = change_;
    changes.is_complete = change >= forgotten_ && change <= change_;
    for (const auto& [id, entry] : entries_) {
      if (entry.summary.change > change) changes.runs.push_back(entry.summary);
    }
    for (const auto& [at, id] : gone_) {
      if (at > change) changes.gone.push_back({id, at});
    }
    std::sort(changes.runs.begin(), changes.runs.end(), [](const auto& a, const auto& b) {
      return a.change < b.change;
    });
    return changes;
  }

  bool wait_behind(int64_t change, int64_t at_most_ms) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait_for(
        lock, std::chrono::milliseconds(at_most_ms), [&] { return change_ > change || is_over_; });
    return !is_over_;
  }

 private:
  void wait_for_first_look(std::unique_lock<std::mutex>& lock) {
    changed_.wait_for(lock, kFirstLook, [this] { return has_looked_ || is_over_; });
  }

  void keep_looking() {
    for (;;) {
      try {
        look();
      } catch (const std::exception&) {
        // The disk failed, or memory or threads ran out; the next look may do better.
      }
      std::unique_lock<std::mutex> lock(mutex_);
      has_looked_ = true;
      changed_.notify_all();
      if (stopping_.wait_for(lock, refresh_, [this] { return is_over_; })) return;
    }
  }

  void look() {
    const bool was_read = finder_.look();
    const std::vector<FoundRun>& found = finder_.runs();
    if (was_read) remove_missing(found);
    // Two threads look: opening a database mostly waits, and one may be slow.
    std::atomic<size_t> next{0};
    const auto look_at_some = [&] {
      for (size_t k = next++; k < found.size() && !is_stopping(); k = next++) {
        look_at(found[k], was_read);
      }
    };
    constexpr size_t kWorthAThread = 2;
    if (has_looked() || found.size() < kWorthAThread) return look_at_some();
    const std::future<void> second = std::async(std::launch::async, look_at_some);
    look_at_some();
  }

  void look_at(const FoundRun& run, bool was_read) {
    const std::optional<Entry> known = entry_of(run.id);
    const bool is_same = known && known->identity == run.identity;
    const auto now = Clock::now();
    if (is_same && !was_read && !known->is_running() && now - known->looked < kEndedAgain) return;
    if (is_same && now < known->rests_until) return;
    Entry entry;
    entry.identity = run.identity;
    entry.looked = now;
    // This comes before the values, so that what comes meanwhile is seen at the next look.
    entry.fingerprint = RunReader::fingerprint((path_ / run.id).string());
    const bool is_quiet = is_same && entry.fingerprint == known->fingerprint;
    if (is_quiet && !needs_reading(run.id, *known)) return touch(run.id, entry);
    if (!is_same) drop_reader(run.id);
    entry.summary = read(run.id);
    const auto taken = Clock::now() - now;
    if (taken > kSlow) entry.rests_until = Clock::now() + 10 * taken;
    if (is_quiet && entry.summary.status == known->summary.status &&
        entry.summary.error == known->summary.error) {
      return touch(run.id, entry);
    }
    put(run.id, std::move(entry));
  }

  // Returns true where files cannot tell: a recorder may have died, or a folder become readable.
  bool needs_reading(const std::string& id, const Entry& known) const {
    if (has_status(known.summary, RunStatus::kUnreadable)) return true;
    return known.is_running() && !record::Folder((path_ / id).string()).is_being_written();
  }

  ReadOptions options(int64_t seconds) const { return {static_cast<double>(seconds), stop_}; }

  wire::RunSummary read(const std::string& id) {
    const std::string folder = (path_ / id).string();
    if (!is_followed(id)) return look_at_run(folder, id, options(limits::kLookSeconds));
    wire::RunSummary summary;
    try {
      // The run is on the shelf, so this does not wait for the first look.
      summary = summary_of(*open(id), id, 0);
    } catch (const std::exception& error) {
      summary = unreadable_run(id, 0, error.what());
    }
    add_labels(summary, folder);
    return summary;
  }

  // Returns true for runs that grow. They keep their reader, which then reads only what is new.
  bool is_followed(const std::string& id) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = entries_.find(id);
    return found != entries_.end() && found->second.is_running();
  }

  std::optional<Entry> entry_of(const std::string& id) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = entries_.find(id);
    if (found == entries_.end()) return std::nullopt;
    return found->second;
  }

  void put(const std::string& id, Entry entry) {
    const std::lock_guard<std::mutex> lock(mutex_);
    entry.summary.change = ++change_;
    entries_[id] = std::move(entry);
    changed_.notify_all();
  }

  void touch(const std::string& id, const Entry& look) {
    const std::lock_guard<std::mutex> lock(mutex_);
    Entry& entry = entries_[id];
    entry.looked = look.looked;
    entry.rests_until = look.rests_until;
  }

  void drop_reader(const std::string& id) {
    const std::lock_guard<std::mutex> lock(mutex_);
    readers_.drop(id);
  }

  void remove_missing(const std::vector<FoundRun>& found) {
    std::map<std::string, bool> is_found;
    for (const FoundRun& run : found) is_found[run.id] = true;
    const std::lock_guard<std::mutex> lock(mutex_);
    for (auto entry = entries_.begin(); entry != entries_.end();) {
      if (is_found.count(entry->first) != 0) {
        ++entry;
        continue;
      }
      gone_[++change_] = entry->first;
      readers_.drop(entry->first);
      entry = entries_.erase(entry);
    }
    while (gone_.size() > kRemembered) {
      forgotten_ = gone_.begin()->first;
      gone_.erase(gone_.begin());
    }
    changed_.notify_all();
  }

  bool is_stopping() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return is_over_;
  }

  const std::shared_ptr<std::atomic<bool>> stop_ = std::make_shared<std::atomic<bool>>(false);
  const std::filesystem::path path_;
  const std::string folder_;
  const std::chrono::milliseconds refresh_;
  RunFinder finder_;  // of the looking thread
  mutable std::mutex mutex_;
  std::condition_variable changed_, stopping_;
  std::map<std::string, Entry> entries_;
  Readers readers_;
  std::map<int64_t, std::string> gone_;
  int64_t change_ = 0, forgotten_ = 0;
  bool has_looked_ = false, is_over_ = false;
  std::mutex joining_;
  std::thread looking_;  // last: it uses all of the above
};

RunShelf::RunShelf(const std::string& folder, int64_t refresh_ms)
    : state_(std::make_unique<State>(folder, refresh_ms)) {}
RunShelf::~RunShelf() = default;
const std::string& RunShelf::folder() const { return state_->folder(); }
int64_t RunShelf::count() const { return state_->count(); }
bool RunShelf::has_looked() const { return state_->has_looked(); }
wire::RunList RunShelf::list() const { return state_->list(); }
std::optional<wire::RunSummary> RunShelf::find(const std::string& id) const {
  return state_->find(id);
}
std::shared_ptr<const RunReader> RunShelf::open(const std::string& id) const {
  return state_->open(id);
}
std::optional<wire::RunSummary> RunShelf::label(
    const std::string& id, const std::function<void(record::Labels&)>& change) {
  return state_->label(id, change);
}
ShelfChanges RunShelf::since(int64_t change) const { return state_->since(change); }
bool RunShelf::wait_behind(int64_t change, int64_t at_most_ms) const {
  return state_->wait_behind(change, at_most_ms);
}
void RunShelf::stop() { state_->stop(); }

}  // namespace flightdeck::serve

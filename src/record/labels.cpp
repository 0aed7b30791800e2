// SPDX-License-Identifier: MIT
#include "record/labels.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <stdexcept>
#include <sys/file.h>
#include <thread>
#include <unistd.h>

#include "base/limits.h"
#include "base/plain_file.h"
#include "base/whole_file.h"
#include "base/words.h"
#include "record/folder.h"
#include "record/text.h"

namespace flightdeck::record {

namespace {

constexpr const char* kFirstLine = "flightdeck labels 1";
constexpr const char* kTagLine = "tag ";

// Quotes as much of a text as a message needs.
std::string quoted(const std::string& text) {
  constexpr size_t kShown = 40;
  return "'" + printable(text.size() <= kShown ? text : text.substr(0, kShown) + "...") + "'";
}

void check_bytes(const std::string& what, const std::string& text, int64_t most) {
  if (static_cast<int64_t>(text.size()) <= most) return;
  throw std::invalid_argument(what + " has " + std::to_string(text.size()) +
                              " bytes but may have at most " + std::to_string(most) +
                              "; shorten it");
}

// Returns true for UTF-8 without characters that a terminal would obey.
bool is_plain_text(const std::string& text) { return printable(text, Lines::kKept) == text; }

// Reads the lines of a file of labels, one after the other.
class LineReader {
 public:
  explicit LineReader(const std::string& text) : text_(text) {}

  bool is_over() const { return position_ >= text_.size(); }
  std::string next() {
    const size_t end = std::min(text_.find('\n', position_), text_.size());
    std::string line = text_.substr(position_, end - position_);
    position_ = end + 1;
    return line;
  }
  std::string rest() const { return is_over() ? "" : text_.substr(position_); }

 private:
  const std::string& text_;
  size_t position_ = 0;
};

// Locks the labels while they are read and replaced. The kernel lets go of the lock when the
// process dies.
class LabelsLock {
 public:
  explicit LabelsLock(const std::string& folder)
      : descriptor_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    // A file system without locks counts as locked, so the last of two who label at once wins.
    constexpr int kTries = 200;
    for (int k = 0; descriptor_ >= 0 && ::flock(descriptor_, LOCK_EX | LOCK_NB) != 0; ++k) {
      if (errno != EWOULDBLOCK && errno != EINTR) return;
      if (k == kTries) {
        ::close(descriptor_);
        throw std::runtime_error("labels of " + folder +
                                 ": another program has held them for two seconds; try again when "
                                 "it is done");
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
  ~LabelsLock() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  LabelsLock(const LabelsLock&) = delete;
  LabelsLock& operator=(const LabelsLock&) = delete;

 private:
  int descriptor_;
};

}  // namespace

void check_tag(const std::string& tag) {
  if (tag.empty()) throw std::invalid_argument("a tag is empty; give a word");
  check_bytes("tag " + quoted(tag), tag, limits::kTagBytes);
  if (!is_plain_text(tag) || tag.find_first_of(" \n") != std::string::npos) {
    throw std::invalid_argument("tag " + quoted(tag) +
                                " has blanks or control characters; give a word");
  }
}

void check_note(const std::string& note) {
  check_bytes("the note", note, limits::kNoteBytes);
  if (is_plain_text(note)) return;
  throw std::invalid_argument(
      "the note " + quoted(note) +
      " has control characters or bytes that are no UTF-8; give plain text");
}

void add_tag(Labels& labels, const std::string& tag) {
  check_tag(tag);
  add_once(labels.tags, tag);
  if (static_cast<int64_t>(labels.tags.size()) <= limits::kTags) return;
  throw std::invalid_argument("tag " + quoted(tag) + " would be the run's " +
                              std::to_string(labels.tags.size()) + "th, and it may have " +
                              std::to_string(limits::kTags) + "; remove others first");
}

void remove_tag(Labels& labels, const std::string& tag) {
  const auto found = std::find(labels.tags.begin(), labels.tags.end(), tag);
  if (found == labels.tags.end()) {
    throw std::invalid_argument(
        "the run has no tag " + quoted(tag) +
        (labels.tags.empty() ? "; it has none" : "; it has " + joined(labels.tags)));
  }
  labels.tags.erase(found);
}

std::string to_text(const Labels& labels) {
  std::string text = std::string(kFirstLine) + "\n";
  for (const std::string& tag : labels.tags) text += kTagLine + tag + "\n";
  if (labels.is_archived) text += "archived\n";
  if (!labels.note.empty()) text += "note\n" + labels.note + "\n";
  return text;
}

Labels labels_from_text(const std::string& text) {
  Labels labels;
  LineReader lines(text);
  const std::string first = lines.next();
  if (first != kFirstLine) {
    throw std::runtime_error("they begin with " + quoted(first) + ", not with '" + kFirstLine +
                             "'");
  }
  try {
    while (!lines.is_over()) {
      const std::string line = lines.next();
      if (line.rfind(kTagLine, 0) == 0) add_tag(labels, line.substr(std::string(kTagLine).size()));
      if (line == "archived") labels.is_archived = true;
      if (line != "note") continue;
      labels.note = lines.rest();
      if (!labels.note.empty() && labels.note.back() == '\n') labels.note.pop_back();
      check_note(labels.note);
      break;
    }
  } catch (const std::invalid_argument& error) {
    throw std::runtime_error(error.what());
  }
  return labels;
}

Labels read_labels(const std::string& folder) {
  const std::string path = Folder(folder).labels();
  const auto fail = [&](const std::string& why) -> Labels {
    throw std::runtime_error("cannot read the labels in " + path + ": " + why +
                             "; put them right or remove the file");
  };
  const File file(path, O_RDONLY);
  if (!file.is_open()) {
    const int error = errno;
    if (error == ENOENT) return {};
    const std::string kind = odd_file(path, Links::kRefuse);
    return fail(kind.empty() ? error_text(error) : "it is " + kind + ", not a plain file");
  }
  const std::string text = file.read_at(0, limits::kLabelsBytes + 1);
  if (static_cast<int64_t>(text.size()) > limits::kLabelsBytes) {
    return fail("it has more than " + std::to_string(limits::kLabelsBytes) + " bytes");
  }
  try {
    return labels_from_text(text);
  } catch (const std::runtime_error& error) {
    return fail(error.what());
  }
}

Labels change_labels(const std::string& folder, const std::function<void(Labels&)>& change) {
  const LabelsLock lock(folder);
  Labels labels = read_labels(folder);
  const std::string before = to_text(labels);
  change(labels);
  if (to_text(labels) == before) return labels;
  const std::string path = Folder(folder).labels();
  if (!labels.is_empty()) {
    replace_file(path, to_text(labels));
  } else if (::unlink(path.c_str()) != 0 && errno != ENOENT) {
    throw std::runtime_error("cannot remove " + path + ": " + error_text(errno) +
                             "; make its folder writable");
  }
  return labels;
}

}  // namespace flightdeck::record

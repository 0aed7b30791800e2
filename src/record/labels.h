// SPDX-License-Identifier: MIT
// What people say of a run: tags, a note, that it is archived. It lies in a file of its own beside
// the record, so that a run can be labelled while it is recorded; docs/wire_format.md has its form.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace flightdeck::record {

struct Labels {
  std::vector<std::string> tags;  // each once, in the order in which they came
  std::string note;               // may have several lines
  bool is_archived = false;

  bool is_empty() const { return tags.empty() && note.empty() && !is_archived; }
};

// These throw std::invalid_argument, saying what is wrong, if no run may have this tag or note.
void check_tag(const std::string& tag);
void check_note(const std::string& note);

// Adds a tag unless it is there. Throws std::invalid_argument as check_tag, or if there are too
// many.
void add_tag(Labels& labels, const std::string& tag);
// Removes a tag. Throws std::invalid_argument, naming those that are there, if it has no such tag.
void remove_tag(Labels& labels, const std::string& tag);

std::string to_text(const Labels& labels);
// Reads what to_text wrote. Throws std::runtime_error on anything else.
Labels labels_from_text(const std::string& text);

// Returns the labels of a run, empty if there are none. Throws std::runtime_error if the file is
// damaged, too large or no plain file.
Labels read_labels(const std::string& folder);

// Reads, changes and replaces the labels of the folder's run, one caller at a time; returns them as
// they are then. What `change` throws leaves them as they were. Throws std::runtime_error if they
// cannot be read or written, or if another caller does not come to an end.
Labels change_labels(const std::string& folder, const std::function<void(Labels&)>& change);

}  // namespace flightdeck::record

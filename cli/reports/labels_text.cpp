// SPDX-License-Identifier: MIT
#include "cli/reports/labels_text.h"

#include <cstdio>
#include <stdexcept>

#include "base/words.h"
#include "cli/options/recorded_run.h"
#include "cli/options/usage_error.h"
#include "cli/text/json.h"
#include "record/text.h"

namespace flightdeck::cli {

void label_run(const std::string& command,
               const std::string& folder,
               bool json,
               const std::function<void(record::Labels&)>& change) {
  check_run(command, folder);
  record::Labels labels;
  try {
    labels = record::change_labels(folder, change);
  } catch (const std::invalid_argument& error) {
    throw UsageError(command + ": " + error.what());
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(command + ": " + error.what());
  }
  if (json) {
    std::printf("%s\n",
                Json::object()
                    .field("run", folder)
                    .field("tags", labels.tags)
                    .field("note", labels.note)
                    .field("archived", labels.is_archived)
                    .text()
                    .c_str());
    return;
  }
  std::printf("%s%s\n", folder.c_str(), labels.is_archived ? ", archived" : "");
  std::printf("  tags  %s\n", labels.tags.empty() ? "none" : joined(labels.tags).c_str());
  if (labels.note.empty()) return;
  std::string note;
  for (const char c : labels.note)
    note += c == '\n' ? std::string("\n        ") : std::string(1, c);
  std::printf("  note  %s\n", note.c_str());
}

record::Labels labels_to_show(const std::string& command, const std::string& folder) {
  try {
    return record::read_labels(folder);
  } catch (const std::runtime_error& error) {
    std::fprintf(
        stderr, "flightdeck: %s: %s\n", command.c_str(), record::printable(error.what()).c_str());
    return {};
  }
}

}  // namespace flightdeck::cli

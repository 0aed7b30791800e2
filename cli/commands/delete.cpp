// SPDX-License-Identifier: MIT
// flightdeck delete: removes runs for good, after two questions.
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <memory>
#include <set>
#include <stdexcept>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/clock.h"
#include "base/words.h"
#include "cli/command.h"
#include "cli/options/errors.h"
#include "cli/options/recorded_run.h"
#include "cli/options/usage_error.h"
#include "cli/text/json.h"
#include "cli/text/numbers.h"
#include "record/run_files.h"
#include "record/text.h"
#include "serve/answers.h"

namespace flightdeck::cli {
namespace {

struct DeleteOptions {
  std::vector<std::string> runs;
  bool yes = false, force = false, json = false;
};

// Returns the last part of the path, which is to be typed.
std::string name_to_type(const std::string& folder) {
  return std::filesystem::weakly_canonical(folder).filename().string();
}

void print_shown(const std::string& text) {
  std::fprintf(stderr, "%s\n", record::printable(text).c_str());
}

void tell_what_is_lost(const std::string& folder, const record::RunContents& contents) {
  const serve::wire::RunSummary run = serve::look_at_run(folder, "run", {});
  print_shown(folder + ": " + run.status + ", " + counted(contents.files, "file") + ", " +
              bytes(static_cast<double>(contents.bytes)));
  const auto problem = run.config.find("problem");
  if (problem != run.config.end()) {
    print_shown("  " + problem->second + ", started " + date_and_time(run.start_time) +
                (run.last_step < 0 ? "" : ", last step " + std::to_string(run.last_step)));
  }
  if (contents.has_checkpoint) print_shown("  a checkpoint from which it could go on");
  if (!run.tags.empty()) print_shown("  tags " + joined(run.tags));
  if (!run.note.empty()) print_shown("  note " + run.note);
  if (contents.foreign_count > 0) {
    print_shown("  " + counted(contents.foreign_count, "file") +
                " that the run did not make: " + joined(contents.foreign) +
                (contents.foreign_count > int64_t(contents.foreign.size()) ? ", ..." : ""));
  }
}

// Returns the answer; empty at the end of the input too.
std::string answer_to(const std::string& question) {
  std::fprintf(stderr, "%s ", record::printable(question).c_str());
  std::string answer;
  if (!std::getline(std::cin, answer)) std::fprintf(stderr, "\n");
  return answer;
}

bool is_confirmed(const std::string& folder) {
  const std::string first = answer_to("Delete it for good? [y/N]");
  if (first != "y" && first != "yes") return false;
  const std::string name = name_to_type(folder);
  return answer_to("Type its name, " + name + ", to confirm:") == name;
}

// Turns refusals into wrong usage, and begins other errors with the command.
template <typename Action>
void in_words_of_delete(const Action& action) {
  try {
    action();
  } catch (const std::invalid_argument& error) {
    throw UsageError("delete: " + message_of(error));
  } catch (const std::runtime_error& error) {
    throw std::runtime_error("delete: " + message_of(error));
  }
}

// Returns true if the run is gone.
bool delete_one(const std::string& folder, const DeleteOptions& options, record::Foreign foreign) {
  if (!options.yes) {
    tell_what_is_lost(folder, record::contents_of_run(folder));
    if (!is_confirmed(folder)) {
      print_shown(folder + " was kept");
      return false;
    }
  }
  in_words_of_delete([&] { record::delete_run(folder, foreign); });
  if (options.json) {
    std::printf("%s\n", Json::object().field("deleted", folder).text().c_str());
  } else {
    std::printf("deleted %s\n", record::printable(folder).c_str());
  }
  return true;
}

// Keeps each run once, under the path by which it is named first.
std::vector<std::string> without_repetitions(const std::vector<std::string>& runs) {
  std::vector<std::string> once;
  std::set<std::filesystem::path> seen;
  for (const std::string& run : runs) {
    std::error_code ignored;
    if (seen.insert(std::filesystem::weakly_canonical(run, ignored)).second) once.push_back(run);
  }
  return once;
}

void delete_runs(const DeleteOptions& options) {
  const auto foreign = options.force ? record::Foreign::kDelete : record::Foreign::kRefuse;
  // All runs are checked before the first is deleted.
  for (const std::string& run : options.runs) {
    check_run("delete", run);
    in_words_of_delete([&] { record::check_deletable(run, foreign); });
  }
  int64_t kept = 0;
  for (const std::string& run : without_repetitions(options.runs))
    kept += delete_one(run, options, foreign) ? 0 : 1;
  if (kept > 0) throw std::runtime_error("delete: " + counted(kept, "run") + " not deleted");
}

void add_delete(CLI::App* command) {
  const auto options = std::make_shared<DeleteOptions>();
  command->add_option("RUN", options->runs, "Their folders")->required();
  command->add_flag("--yes", options->yes, "Ask nothing; for scripts");
  command->add_flag("--force",
                    options->force,
                    "Delete files that the run did not make, too, and what is in folders");
  command->add_flag("--json", options->json, "Print one JSON object per run");
  command->footer(
      "Says what will be lost and asks twice: whether to delete the run, and for its name. A run "
      "that\n"
      "is being recorded is refused, and so is a folder with files that the run did not make. "
      "Links\n"
      "are removed, never followed. To put runs away without losing them: flightdeck archive.\n"
      "Example:\n"
      "  flightdeck delete runs/first");
  command->callback([options] { delete_runs(*options); });
}

}  // namespace

Command delete_command() {
  return {"delete", "Delete runs for good, after asking twice.", 58, &add_delete};
}

}  // namespace flightdeck::cli

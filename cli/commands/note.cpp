// SPDX-License-Identifier: MIT
// flightdeck note: what is to be remembered of a run.
#include <memory>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/options/usage_error.h"
#include "cli/reports/labels_text.h"

namespace flightdeck::cli {
namespace {

struct NoteOptions {
  std::string run;
  std::vector<std::string> words;
  bool remove = false, json = false;
};

void note_run(const NoteOptions& options) {
  if (options.remove && !options.words.empty()) {
    throw UsageError("note: --remove and a text exclude each other; give one of them");
  }
  std::string text;
  for (const std::string& word : options.words) text += (text.empty() ? "" : " ") + word;
  label_run("note", options.run, options.json, [&](record::Labels& labels) {
    record::check_note(text);
    if (options.remove || !options.words.empty()) labels.note = text;
  });
}

void add_note_command(CLI::App* command) {
  const auto options = std::make_shared<NoteOptions>();
  command->add_option("RUN", options->run, "Its folder")->required();
  command->add_option(
      "TEXT", options->words, "Takes the place of the note; without any, the run's is printed");
  command->add_flag("--remove", options->remove, "Take the note away");
  command->add_flag("--json", options->json, "Print one JSON object");
  command->footer(
      "A run can be given a note while it is recorded. It is in 'flightdeck show' and on the "
      "page.\n"
      "Examples:\n"
      "  flightdeck note runs/first \"learning rate too high\"\n"
      "  flightdeck note runs/first --remove");
  command->callback([options] { note_run(*options); });
}

}  // namespace

Command note_command() {
  return {"note", "Write a note on a run, or take it away.", 54, &add_note_command};
}

}  // namespace flightdeck::cli

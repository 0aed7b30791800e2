// SPDX-License-Identifier: MIT
// flightdeck tag: gives a run words to find it by.
#include <memory>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/options/usage_error.h"
#include "cli/reports/labels_text.h"

namespace flightdeck::cli {
namespace {

struct TagOptions {
  std::string run;
  std::vector<std::string> words;
  bool remove = false, json = false;
};

void tag_run(const TagOptions& options) {
  if (options.remove && options.words.empty()) {
    throw UsageError("tag: --remove needs the tags that are to go; name them");
  }
  label_run("tag", options.run, options.json, [&](record::Labels& labels) {
    for (const std::string& word : options.words) {
      options.remove ? remove_tag(labels, word) : add_tag(labels, word);
    }
  });
}

void add_tag_command(CLI::App* command) {
  const auto options = std::make_shared<TagOptions>();
  command->add_option("RUN", options->run, "Its folder")->required();
  command->add_option("WORD", options->words, "Tags to add; without any, the run's are printed");
  command->add_flag("--remove", options->remove, "Take these tags away");
  command->add_flag("--json", options->json, "Print one JSON object");
  command->footer(
      "A run can be tagged while it is recorded. Tags are in 'flightdeck runs' and on the page.\n"
      "Examples:\n"
      "  flightdeck tag runs/first baseline paper\n"
      "  flightdeck tag runs/first paper --remove");
  command->callback([options] { tag_run(*options); });
}

}  // namespace

Command tag_command() {
  return {"tag", "Give a run tags, or take them away.", 52, &add_tag_command};
}

}  // namespace flightdeck::cli

// SPDX-License-Identifier: MIT
// flightdeck data: which data sets there are, where to get and put them, and whether what is there
// is what was published.
#include <cstdio>
#include <memory>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/options/errors.h"
#include "cli/options/names.h"
#include "cli/options/usage_error.h"
#include "cli/text/json.h"
#include "cli/text/terminal.h"
#include "record/text.h"
#include "suite/data_check.h"

namespace flightdeck::cli {
namespace {

struct DataOptions {
  std::string name;
  std::string folder;
  bool json = false;
};

std::string state_of(const suite::DataCheck& check) {
  if (!check.description.needs_files) return "generated";
  if (!check.description.is_found) return "missing";
  return check.is_good() ? "good" : "wrong";
}

Json json_of(const suite::FileCheck& file) {
  return Json::object()
      .field("path", file.path)
      .field("bytes", file.bytes)
      .field("expected_bytes", file.expected_bytes)
      .field("sha256", file.sha256)
      .field("good", file.is_good);
}

Json json_of(const suite::DataCheck& check) {
  Json files = Json::array();
  for (const suite::FileCheck& file : check.files) files.add(json_of(file));
  const suite::DataDescription& description = check.description;
  return Json::object()
      .field("name", description.name)
      .field("summary", description.summary)
      .field("state", state_of(check))
      .field("folder", description.folder)
      .field("searched", description.searched)
      .field("needs", description.files)
      .field("how_to_get", description.how_to_get)
      .field("files", files)
      .field("train_samples", check.train_samples)
      .field("test_samples", check.test_samples)
      .field("faults", check.faults);
}

std::string evidence(const suite::DataCheck& check) {
  bool has_hashes = !check.files.empty();
  for (const suite::FileCheck& file : check.files) has_hashes = has_hashes && file.has_known_hash;
  const std::string counts = std::to_string(check.train_samples) + " + " +
                             std::to_string(check.test_samples) + " samples as published";
  if (has_hashes) return counts + ", SHA-256 of all files right";
  return check.files.empty() ? counts : counts + ", sizes of all files right";
}

void print(const suite::DataCheck& check) {
  const suite::DataDescription& description = check.description;
  const auto columns = static_cast<size_t>(std::max(60, terminal_width(STDOUT_FILENO, 100)));
  const auto line = [columns](const std::string& label, const std::string& text) {
    std::printf("  %-8s%s\n", label.c_str(), wrapped(record::printable(text), columns, 10).c_str());
  };
  std::printf("%s: %s\n", description.name.c_str(), state_of(check).c_str());
  line("what", description.summary);
  if (!description.needs_files) return;
  if (description.is_found) line("where", description.folder);
  if (check.is_good()) {
    line("checked", evidence(check));
    return;
  }
  for (const std::string& fault : check.faults) line("fault", fault);
  line("files", joined(description.files));
  line("get", description.how_to_get);
  line("put", "into one of " + joined(description.searched));
}

void run(const DataOptions& options) {
  std::vector<std::string> names = suite::data_set_names();
  if (!options.name.empty()) {
    check_name("data set", options.name, names);
    names = {options.name};
  } else if (!options.folder.empty()) {
    throw UsageError("data: --data names the folder of one set; name the set too");
  }
  Json elements = Json::array();
  size_t faults = 0;
  for (const std::string& name : names) {
    const suite::DataCheck check = suite::check_data(name, options.folder);
    const bool is_asked_for = !options.name.empty();
    if (check.description.is_found || is_asked_for) faults += check.faults.size();
    if (options.json) {
      elements.add(json_of(check));
    } else {
      print(check);
    }
  }
  if (options.json) std::printf("%s\n", elements.text().c_str());
  std::fflush(stdout);
  if (faults > 0) {
    throw std::runtime_error("data: missing, or not what was published; see the faults above");
  }
}

void add_data(CLI::App* command) {
  const auto options = std::make_shared<DataOptions>();
  command->add_option(
      "set", options->name, "One of " + joined(suite::data_set_names()) + "; default all");
  command->add_option("--data", options->folder, "Look for the set in this folder only");
  command->add_flag("--json", options->json, "Print one JSON array of objects");
  command->footer(
      "Sizes, numbers of samples and, where they are known, SHA-256 hashes are checked. The exit\n"
      "status is 1 if a set is wrong, or if the one that is named is missing.\n"
      "Examples:\n  flightdeck data\n  flightdeck data cifar10 --data ~/cifar-10-batches-bin "
      "--json");
  command->callback([options] { run(*options); });
}

}  // namespace

Command data_command() {
  return {"data",
          "Say where to get and put the data sets, and check those that are here.",
          130,
          &add_data};
}

}  // namespace flightdeck::cli

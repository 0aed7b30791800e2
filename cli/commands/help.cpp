// SPDX-License-Identifier: MIT
// flightdeck help: what a command takes, or what commands there are.
#include <iostream>
#include <memory>

#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/options/names.h"
#include "cli/reference/reference.h"
#include "cli/text/json.h"

namespace flightdeck::cli {
namespace {

struct HelpOptions {
  std::vector<std::string> words;
  bool json = false;
};

const char* name_of_kind(ValueKind kind) {
  switch (kind) {
    case ValueKind::kNothing:
      return "flag";
    case ValueKind::kName:
      return "name";
    case ValueKind::kFile:
      return "file";
    case ValueKind::kFolder:
      return "folder";
    case ValueKind::kRun:
      return "run";
    default:
      return "text";
  }
}

Json option_json(const std::vector<OptionReference>& options) {
  Json all = Json::array();
  for (const OptionReference& option : options) {
    all.add(Json::object()
                .field("names", option.names)
                .field("kind", name_of_kind(option.kind))
                .field("summary", option.text)
                .field("group", option.group)
                .field("required", option.is_required)
                .field("repeatable", option.is_repeatable)
                .field("choices", option.choices));
  }
  return all;
}

Json command_json(const CommandReference& command) {
  Json commands = Json::array();
  for (const CommandReference& below : command.commands) commands.add(command_json(below));
  return Json::object()
      .field("command", command.words)
      .field("summary", command.summary)
      .field("arguments", option_json(command.arguments))
      .field("options", option_json(command.options))
      .field("notes", command.notes)
      .field("commands", commands);
}

void print_help(const CLI::App& tool, const HelpOptions& options) {
  const CLI::App* level = &tool;
  std::string name = tool.get_name();
  CommandReference reference = reference_of(tool);
  for (const std::string& word : options.words) {
    std::vector<std::string> names;
    for (const CLI::App* command : level->get_subcommands({})) names.push_back(command->get_name());
    if (names.empty()) throw UsageError("help: '" + word + "' is one word too many");
    check_name("command", word, names);
    level = level->get_subcommand(word);
    name += " " + word;
    for (const CommandReference& below : std::vector<CommandReference>(reference.commands)) {
      if (below.words.substr(below.words.rfind(' ') + 1) == word) reference = below;
    }
  }
  if (options.json) {
    std::cout << command_json(reference).text() << "\n";
  } else {
    // level->help() would tell of this command instead.
    std::cout << level->get_formatter()->make_help(level, name, CLI::AppFormatMode::Normal);
  }
}

void add_help(CLI::App* command) {
  const auto options = std::make_shared<HelpOptions>();
  command->add_option("COMMAND", options->words, "Default is a list of all commands");
  command->add_flag("--json", options->json, "Print one JSON object");
  command->footer("Examples:\n  flightdeck help run\n  flightdeck help bench overhead");
  command->callback([options, command] { print_help(*command->get_parent(), *options); });
}

}  // namespace

Command help_command() { return {"help", "Say what a command takes.", 5, &add_help}; }

}  // namespace flightdeck::cli

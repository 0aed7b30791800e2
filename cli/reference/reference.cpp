// SPDX-License-Identifier: MIT
#include "cli/reference/reference.h"

#include <algorithm>
#include <map>

#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/options/names.h"
#include "flightdeck/quantity.h"
#include "run/experiment.h"
#include "run/fault.h"
#include "run/subjects.h"
#include "study/analysis/write.h"
#include "study/request.h"
#include "suite/data_set.h"
#include "suite/learning_rate.h"
#include "suite/optimizer.h"
#include "suite/problem.h"
#include "suite/problem_sets.h"

namespace flightdeck::cli {
namespace {

using Names = std::vector<std::string>;

struct Values {
  ValueKind kind;
  Names choices;
};

Values one_of(Names names) { return {ValueKind::kName, std::move(names)}; }

Names preset_names() {
  Names names = names_of(all_presets());
  names.emplace_back("none");
  return names;
}

Names quantity_names() {
  Names names;
  for (const Quantity& quantity : all_quantities()) names.push_back(quantity.name());
  return names;
}

Names problems_and_sets() {
  Names names = names_of(suite::all_problems());
  for (const suite::ProblemSet& set : suite::problem_sets()) names.push_back(set.name);
  return names;
}

Names command_words() {
  Names words;
  for (const Command& command : all_commands()) words.push_back(command.word);
  return words;
}

// Returns values by the word of the argument or option; "COMMAND WORD" where commands differ.
const std::map<std::string, Values>& known_values() {
  static const std::map<std::string, Values> known = {
      {"PROBLEM", one_of(names_of(suite::all_problems()))},
      {"tune PROBLEM", one_of(problems_and_sets())},
      {"--problem", one_of(names_of(suite::all_problems()))},
      {"OPTIMIZER", one_of(names_of(suite::all_optimizers()))},
      {"--optimizer", one_of(names_of(suite::all_optimizers()))},
      {"--schedule", one_of(names_of(suite::all_schedules()))},
      {"--quantity", one_of(quantity_names())},
      {"bench --quantity", {ValueKind::kText, {}}},
      {"--preset", one_of(preset_names())},
      {"--group", one_of({"whole", "parameter", "module", "type", "depth"})},
      {"--batch-norm", one_of({"refuse", "constant", "split"})},
      {"--device", one_of({"cpu", "cuda"})},
      {"--budget", one_of(study::budget_names())},
      {"--metric", one_of({"test", "valid", "train", "test_loss", "valid_loss", "train_loss"})},
      {"--curves", one_of({"mean", "median"})},
      {"analyze --format", one_of(study::analysis_formats())},
      {"export --format", one_of({"jsonl", "csv", "tensorboard"})},
      {"experiment name", one_of(names_of(run::all_experiments()))},
      {"--fault", one_of(names_of(run::all_faults()))},
      {"--fault-file", {ValueKind::kFile, {}}},
      {"faultbench --problem", one_of(names_of(run::all_subjects()))},
      {"--split", one_of({"tune", "test"})},
      {"--keep", {ValueKind::kFolder, {}}},
      {"data set", one_of(suite::data_set_names())},
      {"COMMAND", one_of(command_words())},
      {"SHELL", one_of({"bash", "fish", "zsh"})},
      {"RUN", {ValueKind::kRun, {}}},
      {"FOLDER", {ValueKind::kFolder, {}}},
      {"STUDY", {ValueKind::kFolder, {}}},
      {"--data", {ValueKind::kFolder, {}}},
      {"--out", {ValueKind::kFile, {}}},
      {"--pack", {ValueKind::kFile, {}}},
      {"--config", {ValueKind::kFile, {}}},
  };
  return known;
}

Values values_of(const std::string& command, const std::string& word) {
  const auto& known = known_values();
  const std::string first = command.substr(0, command.find(' '));
  for (const std::string& key : {command + " " + word, first + " " + word, word}) {
    const auto found = known.find(key);
    if (found != known.end()) return found->second;
  }
  return {ValueKind::kText, {}};
}

// Turns CLI11's types into the tool's words.
std::string value_word(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const bool is_number =
      type.find("INT") != std::string::npos || type.find("FLOAT") != std::string::npos;
  return is_number ? "NUMBER" : "TEXT";
}

OptionReference option_reference(const CLI::Option& option, const std::string& command) {
  OptionReference told;
  if (option.get_positional() && option.get_lnames().empty()) {
    told.names = {option.get_name(/*positional=*/true)};
  }
  for (const std::string& name : option.get_lnames()) told.names.push_back("--" + name);
  for (const std::string& name : option.get_snames()) told.names.push_back("-" + name);
  told.text = option.get_description();
  told.group = option.get_group();
  told.is_required = option.get_required();
  told.is_repeatable = option.get_expected_max() > 1;
  if (option.get_expected_max() == 0 || option.get_type_size() == 0) {
    told.kind = ValueKind::kNothing;
    return told;
  }
  const Values values = values_of(command, told.names.front());
  told.kind = values.kind;
  told.choices = values.choices;
  told.value = told.kind == ValueKind::kFile     ? "FILE"
               : told.kind == ValueKind::kFolder ? "FOLDER"
               : told.kind == ValueKind::kRun    ? "RUN"
               : told.kind == ValueKind::kName   ? "NAME"
                                                 : value_word(option);
  return told;
}

CommandReference command_reference(const CLI::App& app, const std::string& words) {
  CommandReference told;
  told.words = words;
  told.summary = app.get_description();
  told.notes = app.get_footer();
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    OptionReference reference = option_reference(*option, words);
    const bool is_argument = reference.names.front().rfind('-', 0) != 0;
    (is_argument ? told.arguments : told.options).push_back(std::move(reference));
  }
  for (const CLI::App* command : app.get_subcommands({})) {
    told.commands.push_back(
        command_reference(*command, (words.empty() ? "" : words + " ") + command->get_name()));
  }
  return told;
}

}  // namespace

CommandReference reference_of(const CLI::App& app) { return command_reference(app, ""); }

std::vector<const CommandReference*> leaves_of(const CommandReference& of) {
  std::vector<const CommandReference*> leaves;
  if (of.commands.empty()) leaves.push_back(&of);
  for (const CommandReference& command : of.commands) {
    const std::vector<const CommandReference*> below = leaves_of(command);
    leaves.insert(leaves.end(), below.begin(), below.end());
  }
  return leaves;
}

std::string synopsis_of(const CommandReference& command, const std::string& program) {
  std::string text = program + (command.words.empty() ? "" : " " + command.words);
  if (!command.commands.empty()) text += " COMMAND";
  if (!command.options.empty()) text += " [OPTIONS]";
  for (const OptionReference& argument : command.arguments) {
    const std::string word = argument.names.front() + (argument.is_repeatable ? "..." : "");
    text += argument.is_required ? " " + word : " [" + word + "]";
  }
  return text;
}

}  // namespace flightdeck::cli

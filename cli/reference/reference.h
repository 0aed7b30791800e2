// SPDX-License-Identifier: MIT
// What the tool takes, as plain values: read from the parser, so that the help, the manual page and
// the completion of shells say the same.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace flightdeck::cli {

enum class ValueKind {
  kNothing,  // a flag
  kText,     // numbers and free text
  kName,     // one of `choices`
  kFile,
  kFolder,
  kRun,  // folder of a run
};

struct OptionReference {
  std::vector<std::string> names;  // "--out", "-o"; of an argument its word: "PROBLEM"
  std::string value;               // what stands behind the option: "NUMBER"; empty for flags
  std::string text, group;
  bool is_required = false, is_repeatable = false;
  ValueKind kind = ValueKind::kText;
  std::vector<std::string> choices;
};

struct CommandReference {
  std::string words;           // "bench overhead"; empty for the tool itself
  std::string summary, notes;  // `notes` are lines with examples at the end
  std::vector<OptionReference> arguments, options;
  std::vector<CommandReference> commands;
};

// Reads the whole tool if `app` is its root. Leaves out options that are not in the help.
CommandReference reference_of(const CLI::App& app);

// Returns those below `of` that do something themselves, in order.
std::vector<const CommandReference*> leaves_of(const CommandReference& of);

// Writes "flightdeck run [OPTIONS] PROBLEM".
std::string synopsis_of(const CommandReference& command, const std::string& program);

}  // namespace flightdeck::cli

// SPDX-License-Identifier: MIT
#include "cli/text/next_commands.h"

#include <cerrno>
#include <filesystem>

#include "base/shell.h"
#include "cli/text/terminal.h"
#include "study/outcome.h"

namespace flightdeck::cli {
namespace {

std::string whole_path(const std::string& path) {
  std::error_code ignored;
  const auto whole = std::filesystem::absolute(path, ignored).lexically_normal().string();
  return whole.size() > 1 && whole.back() == '/' ? whole.substr(0, whole.size() - 1) : whole;
}

// Returns a whole path if the program was called by a path, so that it is found from elsewhere too.
std::string program() {
  const std::string called = program_invocation_name;
  return called.find('/') == std::string::npos ? called : whole_path(called);
}

}  // namespace

std::string command_for(const std::string& command, const std::string& folder) {
  return shell_word(program()) + " " + command +
         (folder.empty() ? "" : " " + shell_word(whole_path(folder)));
}

std::vector<std::string> commands_after_run(const std::string& folder, bool can_go_on) {
  std::vector<std::string> commands;
  if (can_go_on) commands.push_back(command_for("resume", folder));
  commands.push_back(command_for("show", folder));
  const auto above = std::filesystem::path(whole_path(folder)).parent_path().string();
  commands.push_back(command_for("serve", above));
  commands.push_back(command_for("report", folder));
  // A run that goes on later, or has left no outcome, cannot be compared yet.
  if (!can_go_on && study::has_outcome(folder)) commands.push_back(command_for("analyze", above));
  return commands;
}

std::vector<std::string> commands_after_study(const std::string& folder, bool can_go_on) {
  std::vector<std::string> commands;
  if (can_go_on) commands.push_back(command_for("tune", folder));
  commands.push_back(command_for("analyze", folder));
  commands.push_back(command_for("serve", folder));
  commands.push_back(command_for("runs", folder));
  return commands;
}

std::string next_lines(const std::vector<std::string>& commands) {
  std::string text;
  for (const std::string& command : commands) {
    text += (text.empty() ? "" : "\n") + fact_line(text.empty() ? "next" : "", command);
  }
  return text;
}

}  // namespace flightdeck::cli

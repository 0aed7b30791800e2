// SPDX-License-Identifier: MIT
#include "cli/reference/manual.h"

#include <algorithm>
#include <sstream>

namespace flightdeck::cli {
namespace {

// Escapes letters that troff would take for its own. A bare hyphen would become a typographic one,
// which cannot be pasted into a shell.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char letter : text) {
    switch (letter) {
      case '\\':
        out += "\\e";
        break;
      case '-':
        out += "\\-";
        break;
      case '\'':
        out += "\\(aq";
        break;
      case '`':
        out += "\\(ga";
        break;
      case '^':
        out += "\\(ha";
        break;
      case '~':
        out += "\\(ti";
        break;
      default:
        out += letter;
    }
  }
  return out;
}

// Writes a line of text; one that begins with a dot would be a request to troff.
std::string text_line(const std::string& text) {
  return (text.rfind('.', 0) == 0 ? "\\&" : "") + escaped(text) + "\n";
}

std::string bold(const std::string& text) { return "\\fB" + escaped(text) + "\\fR"; }
std::string italic(const std::string& text) { return "\\fI" + escaped(text) + "\\fR"; }

// Writes lines that keep their breaks.
std::string as_written(const std::string& lines) {
  std::string text = ".PP\n.nf\n";
  std::istringstream in(lines);
  for (std::string line; std::getline(in, line);) text += text_line(line);
  return text + ".fi\n";
}

std::string option_text(const OptionReference& option) {
  std::string text = ".TP\n";
  for (const std::string& name : option.names) {
    text += (&name == &option.names.front() ? "" : ", ") + bold(name);
  }
  if (!option.value.empty() && option.names.front().rfind('-', 0) == 0) {
    text += " " + italic(option.value);
  }
  return text + "\n" + text_line(option.text.empty() ? "(no description)" : option.text);
}

std::string command_text(const CommandReference& command, const std::string& program) {
  std::string text = ".SS " + escaped(program + " " + command.words) + "\n" +
                     text_line(command.summary) + ".PP\n" +
                     text_line(synopsis_of(command, program));
  for (const OptionReference& argument : command.arguments) text += option_text(argument);
  std::vector<std::string> groups;
  for (const OptionReference& option : command.options) {
    if (std::find(groups.begin(), groups.end(), option.group) == groups.end()) {
      groups.push_back(option.group);
    }
  }
  for (const std::string& group : groups) {
    if (group != "Options") text += ".PP\n" + bold(group + ":") + "\n";
    for (const OptionReference& option : command.options) {
      if (option.group == group) text += option_text(option);
    }
  }
  if (!command.notes.empty()) text += as_written(command.notes);
  return text;
}

constexpr const char* kTail = R"(.SH EXIT STATUS
.TP
\fB0\fR
Success.
.TP
\fB1\fR
Failure at run time: a training that diverged, a full disk, data that are missing.
.TP
\fB2\fR
Wrong usage: a name, option or value that does not exist.
.TP
\fB130\fR
Ended by Ctrl\-C; 143 by SIGTERM. What was recorded is complete.
.SH ENVIRONMENT
.TP
\fBFLIGHTDECK_DATA\fR
Folder with data sets, one folder each.
.TP
\fBFLIGHTDECK_TOKEN\fR
What clients of \fBserve\fR have to know.
.TP
\fBNO_COLOR\fR
If it is set and not empty, nothing is coloured. Nothing is where the output is no terminal.
.SH FILES
.TP
\fIRUN/run.sqlite\fR
The record of a run.
.TP
\fIRUN/config.toml\fR
Its configuration, from which \fBagain\fR repeats it.
.TP
\fIRUN/outcome.json\fR
How it ended, with its scores.
)";

}  // namespace

std::string manual_page(const CommandReference& tool, const std::string& program) {
  std::string title = program;
  for (char& letter : title) letter = letter >= 'a' && letter <= 'z' ? char(letter - 32) : letter;
  std::string text = ".TH " + escaped(title) +
                     " 1 \"\" \"Flightdeck " FLIGHTDECK_VERSION "\" \"Flightdeck\"\n.SH NAME\n" +
                     escaped(program) + " \\- a debugger for neural\\-network training\n" +
                     ".SH SYNOPSIS\n" + bold(program) + " " + italic("COMMAND") + " [" +
                     italic("OPTIONS") + "] [" + italic("ARGUMENTS") + "]\n.SH DESCRIPTION\n" +
                     text_line(
                         "Trains problems of a suite, and your own, under instruments; "
                         "records what they show; and looks at the record in the terminal, "
                         "in a browser and in other programs.") +
                     ".SH OPTIONS\n";
  for (const OptionReference& option : tool.options) text += option_text(option);
  text += ".SH COMMANDS\n";
  for (const CommandReference* command : leaves_of(tool)) text += command_text(*command, program);
  text += kTail;
  return text + ".SH EXAMPLES\n" + as_written(tool.notes);
}

}  // namespace flightdeck::cli

// SPDX-License-Identifier: MIT
// All three scripts hold the whole catalogue: the tool takes half a second to start, which is too
// long for a key.
#include "cli/reference/completion.h"

#include "base/shell.h"

namespace flightdeck::cli {
namespace {

using Commands = std::vector<const CommandReference*>;

// Adds `of` and all below it.
void add_all(const CommandReference& of, Commands& all) {
  all.push_back(&of);
  for (const CommandReference& command : of.commands) add_all(command, all);
}

Commands all_of(const CommandReference& tool) {
  Commands all;
  add_all(tool, all);
  return all;
}

std::string spaced(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::vector<std::string> words_below(const CommandReference& command) {
  std::vector<std::string> words;
  for (const CommandReference& below : command.commands) {
    words.push_back(below.words.substr(below.words.rfind(' ') + 1));
  }
  return words;
}

// Replaces letters that names of functions may not have.
std::string identifier(std::string program) {
  for (char& letter : program) {
    const bool is_fine = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
                         (letter >= '0' && letter <= '9');
    if (!is_fine) letter = '_';
  }
  return program;
}

// Writes "'run --out'|'run -o'", which stands before a value.
std::string places(const CommandReference& command, const OptionReference& option) {
  std::string text;
  for (const std::string& name : option.names) {
    text += (text.empty() ? "" : "|") + shell_word(command.words + " " + name);
  }
  return text;
}

std::string first_sentence(const std::string& text) {
  const size_t end = text.find_first_of(";\n");
  std::string sentence = text.substr(0, end);
  if (!sentence.empty() && sentence.back() == '.') sentence.pop_back();
  return sentence;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

// ---- bash ---------------------------------------------------------------------------------------

// Completes values; names of files are read line by line, because they may have blanks.
std::string bash_values(const OptionReference& option) {
  const auto lines = [](const std::string& command) {
    return "IFS=$'\\n'; COMPREPLY=($(" + command + " \"$current\")); compopt -o filenames";
  };
  switch (option.kind) {
    case ValueKind::kName:
      return "COMPREPLY=($(compgen -W " + shell_word(spaced(option.choices)) + " -- \"$current\"))";
    case ValueKind::kFolder:
      return lines("compgen -d --");
    case ValueKind::kRun:
      return lines("_@_runs");
    case ValueKind::kFile:
      return lines("compgen -f --");
    default:
      return "COMPREPLY=()";
  }
}

constexpr const char* kBashHead =
    R"(# bash completion of @PROGRAM; written by '@PROGRAM completion bash'

# Folders that hold a run, here and in runs/, and folders on the way to one.
_@_runs() {
  local folder
  for folder in "$1"*/ runs/"$1"*/; do
    [ -e "$folder/run.sqlite" ] && printf '%s\n' "${folder%/}"
  done
  compgen -d -- "$1"
}

_@() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
  local command= below word k
  local IFS=$' \t\n'
  # --option=value comes in three words.
  if [ "$current" = "=" ]; then
    current=
  elif [ "$previous" = "=" ]; then
    previous=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  for ((k = 1; k < COMP_CWORD; k++)); do
    word=${COMP_WORDS[k]}
    case "$command" in
)";

constexpr const char* kBashMiddle = R"(      *) break ;;
    esac
    case " $below " in
      *" $word "*) command=${command:+$command }$word ;;
    esac
  done
  case "$command $previous" in
)";

// ---- zsh ----------------------------------------------------------------------------------------

std::string zsh_values(const OptionReference& option) {
  switch (option.kind) {
    case ValueKind::kName:
      return "compadd -- " + spaced(option.choices);
    case ValueKind::kFolder:
      return "_files -/";
    case ValueKind::kRun:
      return "_@_runs";
    case ValueKind::kFile:
      return "_files";
    default:
      return "_message " + shell_word(option.text);
  }
}

std::string zsh_item(const std::string& word, const std::string& text) {
  return shell_word(replaced(word, ":", "\\:") + ":" + first_sentence(text));
}

constexpr const char* kZshHead = R"(#compdef @PROGRAM
# zsh completion of @PROGRAM; written by '@PROGRAM completion zsh'

# Folders that hold a run, here and in runs/; else folders on the way to one.
_@_runs() {
  local -a found
  found=(${(Q)PREFIX}*/run.sqlite(N:h) runs/${(Q)PREFIX}*/run.sqlite(N:h))
  if (( $#found )); then compadd -U -f -- $found; else _files -/; fi
}

_@() {
  local command= below word
  local -a items
  integer k
  for (( k = 2; k < CURRENT; k++ )); do
    word=$words[k]
    case "$command" in
)";

constexpr const char* kZshMiddle = R"(      *) break ;;
    esac
    case " $below " in
      *" $word "*) command=${command:+$command }$word ;;
    esac
  done
  case "$command $words[CURRENT-1]" in
)";

// ---- fish ---------------------------------------------------------------------------------------

std::string fish_quoted(const std::string& text) {
  return "'" + replaced(replaced(text, "\\", "\\\\"), "'", "\\'") + "'";
}

std::string fish_values(const OptionReference& option) {
  switch (option.kind) {
    case ValueKind::kName:
      return " -x -a " + fish_quoted(spaced(option.choices));
    case ValueKind::kFolder:
      return " -x -a '(__fish_complete_directories)'";
    case ValueKind::kRun:
      return " -x -a '(__@_runs)'";
    case ValueKind::kFile:
      return " -r -F";
    default:
      return " -x";
  }
}

constexpr const char* kFishHead =
    R"(# fish completion of @PROGRAM; written by '@PROGRAM completion fish'

# Folders that hold a run, here and in runs/, and folders on the way to one.
function __@_runs
    for file in */run.sqlite runs/*/run.sqlite
        dirname $file
    end
    __fish_complete_directories
end

# True where exactly the words $argv[1] of a command have been typed.
function __@_at
    set -l command
    for word in (commandline -opc)[2..-1]
        switch "$command"
)";

constexpr const char* kFishMiddle = R"(            case '*'
                break
        end
        if contains -- $word (string split ' ' -- $below)
            set command (string trim -- "$command $word")
        end
    end
    test "$command" = "$argv[1]"
end

complete -c @PROGRAM -f
)";

// Fills in the templates' names: @PROGRAM is the program, _@ begins the names of functions.
std::string named(std::string text, const std::string& program) {
  text = replaced(text, "@PROGRAM", program);
  return replaced(text, "_@", "_" + identifier(program));
}

}  // namespace

std::string bash_completion(const CommandReference& tool, const std::string& program) {
  const Commands all = all_of(tool);
  std::string text = kBashHead;
  for (const CommandReference* command : all) {
    if (command->commands.empty()) continue;
    text += "      " + shell_word(command->words) +
            ") below=" + shell_word(spaced(words_below(*command))) + " ;;\n";
  }
  text += kBashMiddle;
  for (const CommandReference* command : all) {
    for (const OptionReference& option : command->options) {
      if (option.kind == ValueKind::kNothing) continue;
      text += "    " + places(*command, option) + ") " + bash_values(option) + "; return ;;\n";
    }
  }
  text += "  esac\n  case \"$command\" in\n";
  for (const CommandReference* command : all) {
    std::vector<std::string> words;
    for (const OptionReference& option : command->options) {
      words.insert(words.end(), option.names.begin(), option.names.end());
    }
    text += "    " + shell_word(command->words) + ")\n      if [[ $current == -* ]]; then\n" +
            "        COMPREPLY=($(compgen -W " + shell_word(spaced(words)) + " -- \"$current\"))\n";
    if (!command->commands.empty()) {
      text += "      else\n        COMPREPLY=($(compgen -W " +
              shell_word(spaced(words_below(*command))) + " -- \"$current\"))\n";
    } else if (!command->arguments.empty()) {
      text += "      else\n        " + bash_values(command->arguments.front()) + "\n";
    }
    text += "      fi ;;\n";
  }
  text += "  esac\n}\ncomplete -F _@ @PROGRAM\n";
  return named(text, program);
}

std::string zsh_completion(const CommandReference& tool, const std::string& program) {
  const Commands all = all_of(tool);
  std::string text = kZshHead;
  for (const CommandReference* command : all) {
    if (command->commands.empty()) continue;
    text += "      " + shell_word(command->words) +
            ") below=" + shell_word(spaced(words_below(*command))) + " ;;\n";
  }
  text += kZshMiddle;
  for (const CommandReference* command : all) {
    for (const OptionReference& option : command->options) {
      if (option.kind == ValueKind::kNothing) continue;
      text += "    " + places(*command, option) + ") " + zsh_values(option) + "; return ;;\n";
    }
  }
  text += "  esac\n  case \"$command\" in\n";
  for (const CommandReference* command : all) {
    text += "    " + shell_word(command->words) +
            ")\n      if [[ $words[CURRENT] == -* ]]; then\n" + "        items=(";
    for (const OptionReference& option : command->options) {
      for (const std::string& name : option.names) {
        text += "\n          " + zsh_item(name, option.text);
      }
    }
    text += ")\n        _describe option items\n";
    if (!command->commands.empty()) {
      text += "      else\n        items=(";
      for (const CommandReference& below : command->commands) {
        text += "\n          " +
                zsh_item(below.words.substr(below.words.rfind(' ') + 1), below.summary);
      }
      text += ")\n        _describe command items\n";
    } else if (!command->arguments.empty()) {
      text += "      else\n        " + zsh_values(command->arguments.front()) + "\n";
    }
    text += "      fi ;;\n";
  }
  text +=
      "  esac\n}\n"
      "if [ \"$funcstack[1]\" = _@ ]; then _@ \"$@\"; else compdef _@ @PROGRAM; fi\n";
  return named(text, program);
}

std::string fish_completion(const CommandReference& tool, const std::string& program) {
  const Commands all = all_of(tool);
  std::string text = kFishHead;
  for (const CommandReference* command : all) {
    if (command->commands.empty()) continue;
    text += "            case " + fish_quoted(command->words) + "\n                set below " +
            fish_quoted(spaced(words_below(*command))) + "\n";
  }
  text += kFishMiddle;
  for (const CommandReference* command : all) {
    const std::string begin =
        "complete -c @PROGRAM -n " + fish_quoted("__@_at " + fish_quoted(command->words));
    for (const CommandReference& below : command->commands) {
      text += begin + " -a " + below.words.substr(below.words.rfind(' ') + 1) + " -d " +
              fish_quoted(first_sentence(below.summary)) + "\n";
    }
    if (!command->arguments.empty()) {
      const std::string values = fish_values(command->arguments.front());
      if (command->arguments.front().kind != ValueKind::kText) text += begin + values + "\n";
    }
    for (const OptionReference& option : command->options) {
      text += begin;
      for (const std::string& name : option.names) {
        const bool is_long = name.rfind("--", 0) == 0;
        text += (is_long ? " -l " : " -s ") + name.substr(is_long ? 2 : 1);
      }
      text += (option.kind == ValueKind::kNothing ? "" : fish_values(option)) + " -d " +
              fish_quoted(first_sentence(option.text)) + "\n";
    }
  }
  return named(text, program);
}

}  // namespace flightdeck::cli

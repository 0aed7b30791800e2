// SPDX-License-Identifier: MIT
#include "study/launcher.h"

#include <stdexcept>

#include "src/base/shell.h"

namespace flightdeck::study {
namespace {

constexpr const char* kAllWords = "{words}";

[[noreturn]] void refuse_template(const std::string& text, const std::string& why) {
  throw std::invalid_argument("the launcher '" + text + "' " + why);
}

// Splits a text as a shell does, but replaces nothing as a shell would.
std::vector<std::string> template_words(const std::string& text) {
  std::vector<std::string> words;
  std::string word;
  bool is_open = false;  // an empty word has quotes
  char quote = 0;
  for (size_t k = 0; k < text.size(); ++k) {
    const char character = text[k];
    const bool is_last = k + 1 == text.size();
    if (character == '\\' && quote != '\'') {
      if (is_last)
        refuse_template(text, "ends with a backslash that has nothing behind it; leave it out");
      const char next = text[k + 1];
      const bool is_escape =
          quote == 0 || next == '"' || next == '\\' || next == '$' || next == '`';
      if (is_escape) ++k;
      word += is_escape ? next : character;
      is_open = true;
    } else if (quote != 0) {
      if (character == quote) {
        quote = 0;
      } else {
        word += character;
      }
    } else if (character == '\'' || character == '"') {
      quote = character;
      is_open = true;
    } else if (character == ' ' || character == '\t' || character == '\n') {
      if (is_open) words.push_back(word);
      word.clear();
      is_open = false;
    } else {
      word += character;
      is_open = true;
    }
  }
  if (quote != 0)
    refuse_template(text, std::string("has a ") + quote + " without its second one; add it");
  if (is_open) words.push_back(word);
  return words;
}

// Returns the name behind a brace, with its braces; empty if it is an ordinary brace.
std::string placeholder_at(const std::string& word, size_t at) {
  if (word[at] != '{') return "";
  const size_t end = word.find_first_not_of("abcdefghijklmnopqrstuvwxyz", at + 1);
  if (end == std::string::npos || end == at + 1 || word[end] != '}') return "";
  return word.substr(at, end - at + 1);
}

std::vector<std::string> placeholders_of(const std::string& word) {
  std::vector<std::string> names;
  for (size_t at = word.find('{'); at != std::string::npos; at = word.find('{', at + 1)) {
    const std::string name = placeholder_at(word, at);
    if (!name.empty()) names.push_back(name);
  }
  return names;
}

}  // namespace

Launcher::Launcher(const std::string& text, std::vector<std::string> hosts)
    : words_(template_words(text)), hosts_(std::move(hosts)) {
  int commands = 0;
  bool names_host = false;
  for (const std::string& word : words_) {
    for (const std::string& name : placeholders_of(word)) {
      commands += name == "{command}" || name == kAllWords;
      names_host = names_host || name == "{host}";
      if (name == kAllWords && word != kAllWords) {
        refuse_template(text,
                        "has {words} inside of a word, where several cannot be; write {command}");
      }
      if (name != "{command}" && name != kAllWords && name != "{host}" && name != "{slot}") {
        refuse_template(text,
                        "has " + name + "; what it may have: {command}, {words}, {host}, {slot}");
      }
    }
  }
  if (commands != 1) {
    refuse_template(
        text,
        "names the run's command " + std::to_string(commands) +
            " times; write {command} (one line for a shell, as for ssh) or {words} once");
  }
  if (words_.front() == kAllWords || placeholder_at(words_.front(), 0) == "{command}") {
    refuse_template(text, "begins with the run's command; put the program in front that starts it");
  }
  if (names_host && hosts_.empty())
    refuse_template(text, "has {host} but there are no hosts; name some");
  if (!names_host && !hosts_.empty())
    refuse_template(text, "has no {host} but hosts are named; write it");
}

std::vector<std::string> Launcher::start_of(const std::vector<std::string>& command,
                                            size_t slot) const {
  const auto value_of = [&](const std::string& name) {
    if (name == "{command}") return shell_line(command);
    return name == "{host}" ? hosts_[slot % hosts_.size()] : std::to_string(slot);
  };
  std::vector<std::string> start;
  for (const std::string& word : words_) {
    if (word == kAllWords) {
      start.insert(start.end(), command.begin(), command.end());
      continue;
    }
    std::string filled;  // what was put in is not looked at again
    for (size_t at = 0; at < word.size();) {
      const std::string name = placeholder_at(word, at);
      filled += name.empty() ? word.substr(at, 1) : value_of(name);
      at += name.empty() ? 1 : name.size();
    }
    start.push_back(filled);
  }
  return start;
}

}  // namespace flightdeck::study

// SPDX-License-Identifier: MIT
// A command that starts runs elsewhere, as a template: "ssh {host} {command}".
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace flightdeck::study {

// The template is split into words as a shell does it, quotes and backslashes included; nothing
// else of a shell's is done, and no shell is started. In the words stand for something:
//   {command}  the run's command as one line that a shell reads: for ssh, `sh -c`, `--wrap=`
//   {words}    alone in its word: the words of that command, for programs that start programs
//   {host}     the next of the hosts, which take turns with the slots
//   {slot}     which of the runs at the same time it is, counted from 0
class Launcher {
 public:
  // Throws std::invalid_argument, naming what is wrong with the template.
  Launcher(const std::string& text, std::vector<std::string> hosts);

  // Returns the words that start `command` in this slot.
  std::vector<std::string> start_of(const std::vector<std::string>& command, size_t slot) const;

 private:
  std::vector<std::string> words_, hosts_;
};

}  // namespace flightdeck::study

// SPDX-License-Identifier: MIT
// Other programs as child processes.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace flightdeck::study {

// Starts a program with its output appended to `log`. It is out of reach of the terminal's Ctrl-C
// and gets SIGTERM when this process dies. `prepare` runs in the child. Throws if it cannot.
pid_t start_child(const std::vector<std::string>& arguments,
                  const std::string& log,
                  const std::function<void()>& prepare);

// Makes this process the program, with its output appended to `log`. Returns only by throwing.
[[noreturn]] void become(const std::vector<std::string>& arguments, const std::string& log);

// Says how a child ended: "exit status 1", "killed by signal 9"; nothing while it runs.
std::optional<std::string> ending_of(pid_t child);

struct ChildOutput {
  int status = 0;  // 127: there is no such program
  std::string out, error;
};

// Runs a program to its end. Throws if it cannot be started at all.
ChildOutput output_of(const std::vector<std::string>& arguments);

// Returns the last lines of a file; empty if there is none.
std::string last_lines(const std::string& path, int count);

}  // namespace flightdeck::study

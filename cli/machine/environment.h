// SPDX-License-Identifier: MIT
// Settings that move CPU timings by factors and can only be made before a library starts: the BLAS
// kernel set, thread counts, how idle OpenMP threads wait, when malloc returns memory.
#pragma once

#include <string>
#include <vector>

#include "cli/machine/blas.h"

namespace flightdeck::cli {

struct Variable {
  std::string name;
  std::string value;
};

// Returns the environment variables that a measurement with `threads` threads wants and the user
// has not set.
std::vector<Variable> wanted_variables(const Blas& blas, int threads);

// Starts this program again, with the same arguments, once the wanted variables are set. Returns
// if there are none, or if this process is the one started again. Call it before any work: what
// was done is lost.
void restart_with_wanted_variables(int threads);

// Keeps freed memory in the process: returning every large tensor to the kernel costs page faults
// that can take as long as the arithmetic.
void keep_freed_memory();

// Says how this program is started where it is no executable file of its own, such as a script: by
// the executable `program` with these arguments, the first of them its name.
void set_command_line(const std::string& program, std::vector<std::string> arguments);

// Returns the executable that starts this program.
std::string this_program();

// Returns the program and its arguments, as it was started.
std::vector<std::string> command_line();

// Becomes this program with other arguments, the first of them its name. Returns, with the error
// number, only if that fails.
int start_again(std::vector<std::string> arguments);

}  // namespace flightdeck::cli

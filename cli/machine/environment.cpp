// SPDX-License-Identifier: MIT
#include "cli/machine/environment.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <limits>
#include <malloc.h>
#include <unistd.h>
#include <utility>

namespace flightdeck::cli {
namespace {

// This is set in the process that was started again, so that it does not start another one.
constexpr const char* kGuard = "FLIGHTDECK_ENV_SET";

// How the program was started. It is set once, before any work; empty for an executable file.
struct Start {
  std::string program;
  std::vector<std::string> arguments;
};
Start& start() {
  static Start told;
  return told;
}

}  // namespace

void set_command_line(const std::string& program, std::vector<std::string> arguments) {
  start() = {program, std::move(arguments)};
}

std::string this_program() {
  if (!start().program.empty()) return start().program;
  return std::filesystem::read_symlink("/proc/self/exe").string();
}

std::vector<std::string> command_line() {
  if (!start().program.empty()) return start().arguments;
  std::ifstream file("/proc/self/cmdline");
  std::vector<std::string> arguments;
  for (std::string argument; std::getline(file, argument, '\0');) arguments.push_back(argument);
  return arguments;
}

int start_again(std::vector<std::string> arguments) {
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  const std::string told = start().program;
  execv(told.empty() ? "/proc/self/exe" : told.c_str(), pointers.data());
  return errno;
}

std::vector<Variable> wanted_variables(const Blas& blas, int threads) {
  std::vector<Variable> all = {
      {"OMP_NUM_THREADS", std::to_string(threads)},
      // OpenMP threads that spin while idle take the cores from BLAS's own threads.
      {"OMP_WAIT_POLICY", "PASSIVE"},
  };
  if (blas.name == "openblas") all.push_back({"OPENBLAS_NUM_THREADS", std::to_string(threads)});
  if (blas.can_choose_kernels && !blas.better_core().empty()) {
    all.push_back({"OPENBLAS_CORETYPE", blas.better_core()});
  }
  std::vector<Variable> wanted;
  for (const Variable& variable : all) {
    if (std::getenv(variable.name.c_str()) == nullptr) wanted.push_back(variable);
  }
  return wanted;
}

void restart_with_wanted_variables(int threads) {
  if (std::getenv(kGuard) != nullptr) return;
  const std::vector<Variable> wanted = wanted_variables(blas(), threads);
  const std::vector<std::string> arguments = command_line();
  if (wanted.empty() || arguments.empty()) return;

  for (const Variable& variable : wanted) {
    setenv(variable.name.c_str(), variable.value.c_str(), /*overwrite=*/1);
  }
  setenv(kGuard, "1", /*overwrite=*/1);
  const int error = start_again(arguments);
  std::cerr << "flightdeck: cannot start again with a better environment (" << std::strerror(error)
            << "); timings may be slow, set these yourself:";
  for (const Variable& variable : wanted) {
    std::cerr << " " << variable.name << "=" << variable.value;
  }
  std::cerr << "\n";
}

void keep_freed_memory() {
  // M_MMAP_THRESHOLD does not help: glibc ignores values above 32 MB, and tensors are larger.
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
}

}  // namespace flightdeck::cli

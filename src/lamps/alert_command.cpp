// SPDX-License-Identifier: MIT
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "lamps/alert_ways.h"

extern char** environ;

namespace flightdeck::lamps {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks(20);

// Holds the input in a file without a name. Writing to a pipe whose reader has gone would raise a
// signal in the training.
class InputFile {
 public:
  explicit InputFile(const std::string& input)
      : descriptor_(::memfd_create("flightdeck-alert", MFD_CLOEXEC)) {
    if (descriptor_ < 0) return;
    is_written_ =
        ::write(descriptor_, input.data(), input.size()) == static_cast<ssize_t>(input.size()) &&
        ::lseek(descriptor_, 0, SEEK_SET) == 0;
  }
  ~InputFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  int descriptor() const { return is_written_ ? descriptor_ : -1; }

 private:
  int descriptor_;
  bool is_written_ = false;
};

// Holds this process's environment with a few more variables.
class ChildEnvironment {
 public:
  explicit ChildEnvironment(const Environment& more) {
    for (const auto& [name, value] : more) {
      // A NUL would end the text; the JSON has it escaped.
      texts_.push_back(name + "=" + value.substr(0, value.find('\0')));
    }
    for (std::string& text : texts_) pointers_.push_back(text.data());
    for (char** one = environ; one != nullptr && *one != nullptr; ++one) pointers_.push_back(*one);
    pointers_.push_back(nullptr);
  }
  char** get() { return pointers_.data(); }

 private:
  std::vector<std::string> texts_;
  std::vector<char*> pointers_;
};

// Starts the command in a process group of its own, so that all of it can be killed. It gets the
// default signals, whatever the training does with them, and none of the training's files.
int spawn(const std::string& command, int input, const Environment& environment, pid_t& child) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 34)
  posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
#endif
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  char shell[] = "/bin/sh", option[] = "-c";
  std::string words = command;
  char* arguments[] = {shell, option, words.data(), nullptr};
  ChildEnvironment variables(environment);
  const int error = posix_spawn(&child, shell, &files, &attributes, arguments, variables.get());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  return error;
}

std::string how_it_ended(int status) {
  if (WIFSIGNALED(status)) return "was ended by signal " + std::to_string(WTERMSIG(status));
  const int code = WEXITSTATUS(status);
  return code == 0 ? "" : "ended with status " + std::to_string(code);
}

}  // namespace

std::string run_command(const std::string& command,
                        const std::string& input,
                        const Environment& environment,
                        AlertDeadline deadline) {
  const InputFile file(input);
  if (file.descriptor() < 0) return std::string("has no input: ") + std::strerror(errno);
  pid_t child = 0;
  const int error = spawn(command, file.descriptor(), environment, child);
  if (error != 0) return std::string("cannot be started: ") + std::strerror(error);
  int status = 0;
  while (milliseconds_until(deadline) > 0) {
    const pid_t ended = ::waitpid(child, &status, WNOHANG);
    if (ended == child) return how_it_ended(status);
    // A program that ignores SIGCHLD is not told how its children end.
    if (ended < 0 && errno != EINTR) return "";
    std::this_thread::sleep_for(kBetweenLooks);
  }
  ::kill(-child, SIGKILL);
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return "took too long and was killed";
}

}  // namespace flightdeck::lamps

// SPDX-License-Identifier: MIT
#include "study/child.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <deque>
#include <fcntl.h>
#include <fstream>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "study/cannot.h"

namespace flightdeck::study {
namespace {

constexpr int kNoProgram = 127;

std::vector<char*> pointers(const std::vector<std::string>& arguments) {
  std::vector<char*> all;
  for (const std::string& argument : arguments) all.push_back(const_cast<char*>(argument.c_str()));
  all.push_back(nullptr);
  return all;
}

int opened_log(const std::string& path) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file < 0) cannot("write " + path, errno);
  return file;
}

void redirect(int out, int error) {
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(error, STDERR_FILENO);
}

// Reads output and errors until both end.
void drain(int out, int error, ChildOutput& answer) {
  std::array<pollfd, 2> files = {pollfd{out, POLLIN, 0}, pollfd{error, POLLIN, 0}};
  int open = 2;
  while (open > 0) {
    if (::poll(files.data(), files.size(), -1) < 0 && errno != EINTR) break;
    for (pollfd& file : files) {
      if (file.fd < 0 || file.revents == 0) continue;
      std::array<char, 4096> bytes;
      const ssize_t count = ::read(file.fd, bytes.data(), bytes.size());
      if (count < 0 && errno == EINTR) continue;
      if (count > 0) {
        (file.fd == out ? answer.out : answer.error).append(bytes.data(), size_t(count));
      } else {
        file.fd = -1;
        --open;
      }
    }
  }
}

}  // namespace

pid_t start_child(const std::vector<std::string>& arguments,
                  const std::string& log,
                  const std::function<void()>& prepare) {
  std::vector<char*> words = pointers(arguments);
  const int file = opened_log(log);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) {
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    // A parent that was gone before the call sends nothing.
    if (::getppid() != parent) ::_exit(kNoProgram);
    redirect(file, file);
    prepare();
    ::execvp(words[0], words.data());
    ::dprintf(STDERR_FILENO, "cannot start %s: %s\n", words[0], std::strerror(errno));
    ::_exit(kNoProgram);
  }
  const int error = errno;
  ::close(file);
  if (child < 0) cannot("start " + arguments[0], error);
  return child;
}

void become(const std::vector<std::string>& arguments, const std::string& log) {
  std::vector<char*> words = pointers(arguments);
  const int file = opened_log(log);
  redirect(file, file);
  ::execvp(words[0], words.data());
  cannot("start " + arguments[0], errno);
}

std::optional<std::string> ending_of(pid_t child) {
  int status = 0;
  const pid_t ended = ::waitpid(child, &status, WNOHANG);
  if (ended == 0 || (ended < 0 && errno == EINTR)) return std::nullopt;
  if (WIFSIGNALED(status)) return "killed by signal " + std::to_string(WTERMSIG(status));
  return "exit status " + std::to_string(WEXITSTATUS(status));
}

ChildOutput output_of(const std::vector<std::string>& arguments) {
  std::vector<char*> words = pointers(arguments);
  std::array<int, 2> out{}, error{};
  if (::pipe2(out.data(), O_CLOEXEC) != 0) cannot("make a pipe", errno);
  if (::pipe2(error.data(), O_CLOEXEC) != 0) cannot("make a pipe", errno);
  const pid_t child = ::fork();
  if (child == 0) {
    redirect(out[1], error[1]);
    ::execvp(words[0], words.data());
    ::_exit(kNoProgram);
  }
  const int reason = errno;
  ::close(out[1]);
  ::close(error[1]);
  ChildOutput answer;
  if (child > 0) drain(out[0], error[0], answer);
  ::close(out[0]);
  ::close(error[0]);
  if (child < 0) cannot("start " + arguments[0], reason);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  answer.status = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
  return answer;
}

std::string last_lines(const std::string& path, int count) {
  std::ifstream file(path);
  std::deque<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    lines.push_back(line);
    if (lines.size() > static_cast<size_t>(count)) lines.pop_front();
  }
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

}  // namespace flightdeck::study

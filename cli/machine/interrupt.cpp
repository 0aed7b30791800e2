// SPDX-License-Identifier: MIT
#include "cli/machine/interrupt.h"

#include <csignal>
#include <ctime>

namespace flightdeck::cli {
namespace {

volatile std::sig_atomic_t interrupted = 0;  // the signal
volatile std::sig_atomic_t deadline =
    0;  // seconds of a clock; until then a SIGTERM is the same one

std::sig_atomic_t seconds() {
  struct timespec now {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::sig_atomic_t>(now.tv_sec);
}

extern "C" void note_signal(int number) {
  if (interrupted == 0) {
    interrupted = number;
    deadline = seconds() + 2;
    // The next Ctrl-C kills.
    std::signal(SIGINT, SIG_DFL);
    return;
  }
  // A program that ends all processes of a job signals a run twice: itself, and through the process
  // that started it.
  if (number == SIGTERM && seconds() < deadline) return;
  std::signal(number, SIG_DFL);
  std::raise(number);
}

}  // namespace

void note_interrupts() {
  struct sigaction action {};
  action.sa_handler = &note_signal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);  // a reader of the output that goes away does not end a training
}

bool is_interrupted() { return interrupted != 0; }

Interrupted interruption() { return Interrupted(interrupted); }

}  // namespace flightdeck::cli

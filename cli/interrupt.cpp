// SPDX-License-Identifier: MIT
#include "cli/interrupt.h"

#include <csignal>

namespace flightdeck::cli {
namespace {

volatile std::sig_atomic_t interrupted = 0;

extern "C" void note_signal(int) {
  interrupted = 1;
  // Whichever of the two comes next kills.
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
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

}  // namespace flightdeck::cli

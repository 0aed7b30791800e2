// SPDX-License-Identifier: MIT
// Records steps until it is killed, or STEPS of them, and says on its standard output which are
// written. With a fifth word it rests after them instead of ending the run.
//   record_kill_writer FOLDER QUEUE_STEPS JOURNAL_BYTES STEPS [rest]
#include <cstdint>
#include <cstdlib>
#include <unistd.h>

#include "flightdeck/record.h"
#include "tests/record/made_steps.h"

int main(int count, char** arguments) {
  if (count != 5 && count != 6) return 2;
  flightdeck::RecorderOptions options;
  options.queue_steps = std::atoll(arguments[2]);
  options.journal_bytes = std::atoll(arguments[3]);
  flightdeck::Recorder recorder(arguments[1], options);
  recorder.begin({});
  const int64_t steps = std::atoll(arguments[4]);
  for (int64_t step = 0; step < steps; ++step) {
    recorder.write(flightdeck::tests::make_step(step));
    if (::write(STDOUT_FILENO, &step, sizeof step) != sizeof step) return 1;
    if (step > 0) recorder.write(flightdeck::tests::make_late_step(step - 1));
  }
  while (count == 6) ::pause();
  recorder.finish(flightdeck::Ending::kFinished);
}

// SPDX-License-Identifier: MIT
// Schedules of the learning rate, "step:30,60:0.1,0.01@epoch".
#include "suite/learning_rate.h"

#include "fuzz/quiet_torch.h"

using namespace flightdeck;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  fuzz::accepts([&] {
    const auto schedule = suite::LearningRateSchedule::parse(fuzz::text_of(bytes, size));
    for (const int64_t step : {0, 1, 57, 999}) schedule.factor({step, 10, 1000});
    for (const int64_t epochs : {0, 1, 100}) {
      const int64_t reported = schedule.reported_epoch(epochs);
      fuzz::require(reported >= 0 && reported <= epochs);
    }
  });
  return 0;
}

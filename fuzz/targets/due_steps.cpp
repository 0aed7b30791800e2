// SPDX-License-Identifier: MIT
// Schedules of quantities, "every 16 from 3".
#include "flightdeck/due_steps.h"

#include "fuzz/quiet_torch.h"

using namespace flightdeck;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  fuzz::accepts([&] {
    const DueSteps schedule = DueSteps::parse(fuzz::text_of(bytes, size));
    const DueSteps again = DueSteps::parse(schedule.text());
    for (const int64_t step : {INT64_MIN, int64_t{-1}, int64_t{0}, int64_t{7}, INT64_MAX}) {
      fuzz::require(schedule.contains(step) == again.contains(step));
    }
  });
  return 0;
}

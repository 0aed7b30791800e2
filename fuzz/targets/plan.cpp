// SPDX-License-Identifier: MIT
// Lines of a plan, and the request that it follows from.
#include "study/plan.h"

#include "fuzz/fuzz.h"
#include "study/request.h"

using namespace flightdeck;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const std::string text = fuzz::text_of(bytes, size);
  fuzz::accepts([&] { study::planned_run_from_json(text); });
  fuzz::accepts([&] { study::request_from_json(text); });
  return 0;
}

// SPDX-License-Identifier: MIT
// outcome.json of a run.
#include "study/outcome.h"

#include "fuzz/fuzz.h"

using namespace flightdeck;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  study::Outcome outcome;
  const std::string text = fuzz::text_of(bytes, size);
  if (!fuzz::accepts([&] { outcome = study::outcome_from_json(text); })) return 0;
  const std::string written = study::to_json(outcome);
  fuzz::require(study::to_json(study::outcome_from_json(written)) == written);
  return 0;
}

// SPDX-License-Identifier: MIT
// Files of outcomes, one to a line, and what packing makes of them.
#include "study/pack.h"

#include "fuzz/fuzz.h"
#include "study/outcome.h"

using namespace flightdeck;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const std::string path = fuzz::file_of(bytes, size);
  std::vector<std::string> problems;
  std::vector<study::Outcome> outcomes;
  fuzz::accepts([&] { outcomes = study::find_outcomes(path, problems); });
  fuzz::accepts([&] { study::packed(outcomes); });
  return 0;
}

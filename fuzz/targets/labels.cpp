// SPDX-License-Identifier: MIT
// labels.txt of a run.
#include "record/labels.h"

#include "fuzz/fuzz.h"

using namespace flightdeck;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  record::Labels labels;
  const std::string text = fuzz::text_of(bytes, size);
  if (!fuzz::accepts([&] { labels = record::labels_from_text(text); })) return 0;
  const std::string written = record::to_text(labels);
  fuzz::require(record::to_text(record::labels_from_text(written)) == written);
  return 0;
}

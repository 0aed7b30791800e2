// SPDX-License-Identifier: MIT
// Lists and histograms of the database and the journal.
#include "base/limits.h"
#include "fuzz/fuzz.h"
#include "record/blobs.h"
#include "record/reading_fault.h"

using namespace flightdeck;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const std::string blob = fuzz::text_of(bytes, size);
  fuzz::accepts([&] { fuzz::require(record::list_blob(record::list_of_blob(blob)) == blob); });
  Reading reading;
  const bool is_histogram = fuzz::accepts([&] { record::read_histogram_blob(blob, reading); });
  if (!is_histogram) return 0;
  fuzz::require(record::reading_fault(reading).empty());
  Reading again;
  record::read_histogram_blob(record::histogram_blob(reading), again);
  fuzz::require(again.counts == reading.counts && again.axes.size() == reading.axes.size());
  return 0;
}

// SPDX-License-Identifier: MIT
// Payloads of the journal, whose checksum is right.
#include "fuzz/fuzz.h"
#include "record/entry.h"

using namespace flightdeck;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  record::Entry entry;
  if (!fuzz::accepts([&] { entry = record::read_entry(fuzz::text_of(bytes, size)); })) return 0;
  // What was read is written and read again as the same.
  std::string once, twice;
  std::visit([&](const auto& content) { record::put_entry(once, content); }, entry);
  const record::Entry again = record::read_entry(once);
  std::visit([&](const auto& content) { record::put_entry(twice, content); }, again);
  fuzz::require(once == twice);
  return 0;
}

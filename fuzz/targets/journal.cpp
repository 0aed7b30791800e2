// SPDX-License-Identifier: MIT
// The folder of a run that has a journal alone. Input: entries, each two bytes of length and the
// payload; the frames' checksums, which no mutation finds, are made here. A length of 0xffff is the
// rest as it is, frame and all.
#include "fuzz/read_run.h"
#include "record/bytes.h"
#include "record/checksum.h"

using namespace flightdeck;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  std::string input = fuzz::text_of(bytes, size);
  std::string journal = std::string("FDJRNL\0\1", 8) + std::string(8, '\0');
  while (input.size() >= 2) {
    const size_t length = static_cast<uint8_t>(input[0]) | static_cast<uint8_t>(input[1]) << 8;
    input.erase(0, 2);
    if (length == 0xffff) {
      journal += input;
      break;
    }
    const std::string payload = input.substr(0, length);
    input.erase(0, length);
    record::put_u32(journal, static_cast<uint32_t>(payload.size()));
    record::put_u32(journal, record::crc32(payload));
    journal += payload;
  }
  std::ofstream(fuzz::folder() + "/journal.0", std::ios::binary) << journal;
  fuzz::read_run(fuzz::folder());
  return 0;
}

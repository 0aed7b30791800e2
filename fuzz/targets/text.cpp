// SPDX-License-Identifier: MIT
// Texts to learn.
#include "suite/formats/text.h"

#include "fuzz/quiet_torch.h"

using namespace flightdeck;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const std::string text = fuzz::text_of(bytes, size);
  fuzz::accepts([&] {
    const auto characters = suite::decode_utf8(suite::without_frame(text), "input");
    suite::ranks_of(characters, 83, "input");
  });
  return 0;
}

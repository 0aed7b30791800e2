// SPDX-License-Identifier: MIT
// JPEG files: libjpeg's errors, warnings and jumps, and the image made of its rows.
#include "suite/formats/jpeg.h"

#include "fuzz/quiet_torch.h"

using namespace flightdeck;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  // Large images take seconds and find nothing that small ones do not.
  for (size_t i = 0; i + 8 < size; ++i) {
    const uint8_t marker = bytes[i + 1];
    const bool is_frame = bytes[i] == 0xff && marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 &&
                          marker != 0xc8 && marker != 0xcc;
    if (is_frame && (bytes[i + 5] > 0 || bytes[i + 7] > 0)) return 0;
  }
  const std::string path = fuzz::file_of(bytes, size);
  fuzz::accepts([&] { suite::read_jpeg(path); });
  return 0;
}

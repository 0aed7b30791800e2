// SPDX-License-Identifier: MIT
// IDX files, plain and packed.
#include "suite/formats/idx.h"

#include "fuzz/quiet_torch.h"

using namespace flightdeck;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const std::string path = fuzz::file_of(bytes, size);
  fuzz::accepts([&] { suite::read_idx(path, 1); });
  fuzz::accepts([&] { suite::read_idx(path, 3); });
  return 0;
}

// SPDX-License-Identifier: MIT
// MATLAB files of level 5. The header, which is text of no meaning, is made here.
#include "suite/formats/mat5.h"

#include "fuzz/quiet_torch.h"

using namespace flightdeck;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  std::string file(128, ' ');
  file[125] = 1;
  file[126] = 'I';
  file[127] = 'M';
  file += fuzz::text_of(bytes, size);
  const std::string path =
      fuzz::file_of(reinterpret_cast<const uint8_t*>(file.data()), file.size());
  fuzz::accepts([&] { suite::read_mat5(path, "X"); });
  return 0;
}

// SPDX-License-Identifier: MIT
// Binary files of CIFAR-10 and CIFAR-100.
#include "fuzz/quiet_torch.h"
#include "suite/formats/cifar_binary.h"

using namespace flightdeck;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const std::string path = fuzz::file_of(bytes, size);
  fuzz::accepts([&] { suite::read_cifar_binary(path, 1); });
  fuzz::accepts([&] { suite::read_cifar_binary(path, 2); });
  return 0;
}

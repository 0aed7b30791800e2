// SPDX-License-Identifier: MIT
// LibTorch's exceptions come with a backtrace, which takes a thousand times as long as the rest.
#pragma once

#include <c10/util/Logging.h>

#include "fuzz/fuzz.h"

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  c10::SetStackTraceFetcher([] { return std::string(); });
  return 0;
}

// SPDX-License-Identifier: MIT
// Data sets that are made, not read.
#pragma once

#include <string>

#include "suite/data_set.h"

namespace flightdeck::suite {

inline DataSet synthetic(const std::string& name, int64_t limit) {
  DataOptions options;
  options.synthetic = true;
  options.limit = limit;
  return load_data(name, options);
}

}  // namespace flightdeck::suite

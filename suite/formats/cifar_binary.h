// SPDX-License-Identifier: MIT
// Reads the binary files of CIFAR-10 and CIFAR-100: records of label bytes and 3 x 32 x 32 values.
#pragma once

#include <string>

#include <ATen/core/Tensor.h>

namespace flightdeck::suite {

struct CifarRecords {
  at::Tensor images;  ///< [n, 3, 32, 32] uint8
  at::Tensor labels;  ///< [n, L] uint8
};

/// Reads a file; `label_bytes` L is 1 for CIFAR-10, 2 (coarse, fine) for CIFAR-100. Throws if the
/// file cannot be read or is not a whole number of records.
CifarRecords read_cifar_binary(const std::string& path, int64_t label_bytes);

}  // namespace flightdeck::suite

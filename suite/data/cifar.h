// SPDX-License-Identifier: MIT
// What CIFAR-10 and CIFAR-100 have in common.
#pragma once

#include "suite/data/source.h"

namespace flightdeck::suite {

/// How CIFAR-10 or CIFAR-100 stores its labels.
struct CifarLabels {
  int64_t classes = 0;
  int64_t bytes = 1;  ///< in front of each image; the last one is the class
};

/// Returns 50 000 training and 10 000 test photographs, 32 x 32 colour, in the given files of the
/// binary version, which all have the same number of images in each part. `name` is "cifar10" or
/// "cifar100", `published` "cifar-10" or "cifar-100".
DataSource cifar_source(const std::string& name,
                        const std::string& published,
                        const CifarLabels& labels,
                        const std::vector<std::string>& train_files,
                        const std::string& test_file);

}  // namespace flightdeck::suite

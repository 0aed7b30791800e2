// SPDX-License-Identifier: MIT
// What FaultBench trains: small networks on generated data, seconds to a run, in three parts that
// share neither data nor sizes. Thresholds are settled on the first and scored on the others.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "run/fault.h"

namespace flightdeck::run {

enum class Split { kTune, kTest, kFinal };
const char* to_string(Split split);  ///< "tune", "test" or "final"

struct Subject {
  std::string name;
  std::string summary;
  Split split = Split::kTune;
  /// Optimizers with their tuned learning rates; faults are injected under the first two in turn.
  std::vector<std::pair<std::string, double>> optimizers;
  /// A healthy training; draws from LibTorch's default generator, which it seeds.
  std::function<FaultyTraining(uint64_t seed)> make;
};

/// Returns all of them, those of the part tune first.
const std::vector<Subject>& all_subjects();

/// Returns one by name, or a problem of the suite on generated data under its own name. Throws
/// c10::ValueError, naming the nearest and all, if there is neither.
Subject find_subject(const std::string& name);

}  // namespace flightdeck::run

// SPDX-License-Identifier: MIT
// Where two recorded runs first differ. Free of LibTorch.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "flightdeck/record.h"

namespace flightdeck {

struct DifferenceOptions {
  /// Numbers differ if they are further apart than this share of the larger one; 0: by a bit.
  double tolerance = 0;
  /// Quantities that are never equal: `Quantity::measures_process`.
  std::set<std::string> left_out = {"time", "step_times"};
};

/// A setting that is not the same; a run that lacks it has an empty text.
struct SettingDifference {
  std::string key, first, second;
};

/// A value that is not the same. Lists and histograms have NaN here.
struct ValueDifference {
  int64_t step = 0;
  std::string quantity, field, group;
  double first = 0, second = 0;
};

/// Parts of a step in the order in which they are computed.
enum class DifferenceKind {
  kNone,       ///< nothing differs
  kSetting,    ///< no value, but settings or what was recorded
  kData,       ///< what the model was given
  kParameter,  ///< the parameters before the step
  kLayer,      ///< activations
  kLoss,
  kGradient,
  kUpdate,
  kOther,
};
/// "none", "setting", "data", "parameter", "layer", "loss", "gradient", "update" or "other".
const char* to_string(DifferenceKind kind);

/// What the runs were given at the first step that differs, as `inputs` has hashed it.
enum class DataDifference { kUnknown, kSame, kOrder, kSamples };
/// "unknown", "same", "order" (the same samples in another order) or "samples".
const char* to_string(DataDifference data);

struct RunDifference {
  std::vector<SettingDifference> settings;
  /// Series that one run has alone, "quantity[/field][@group]".
  std::vector<std::string> only_first, only_second;
  /// All values that differ at the first step where one does, by name; empty if none does.
  std::vector<ValueDifference> values;
  /// The part of that step that is computed first of those that differ, and the layer (or group of
  /// parameters) in which it does so first; empty if that is not recorded.
  DifferenceKind first_kind = DifferenceKind::kNone;
  std::string first_layer;
  DataDifference data = DataDifference::kUnknown;
  int64_t compared = 0;           ///< values at steps that both have
  int64_t last_common_step = -1;  ///< the last step that both have values of; -1: none

  bool is_same() const {
    return settings.empty() && only_first.empty() && only_second.empty() && values.empty();
  }
};

/// Compares settings, series, and every value at the steps that both runs recorded. Throws where a
/// record cannot be read.
RunDifference difference(const RunReader& first,
                         const RunReader& second,
                         const DifferenceOptions& options = {});

}  // namespace flightdeck

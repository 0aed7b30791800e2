// SPDX-License-Identifier: MIT
// Samples that a run names: lists of one quantity that belong together, as a table.
#pragma once

#include <string>
#include <vector>

#include "cli/reports/shown_run.h"

namespace flightdeck::cli {

// The quantity's lists have one entry per sample: "ids" (places in the data set) or "samples"
// (places in the batch), "labels", "predictions" and whatever else it measures.
struct NamedSamples {
  std::string quantity;
  int64_t step = 0;
  std::vector<std::vector<std::string>> rows;  // the first one has the headings
};

// Takes the lists that name samples, and what these look like, out of `lists`.
std::vector<NamedSamples> take_named_samples(std::vector<LastReading>& lists);

}  // namespace flightdeck::cli

// SPDX-License-Identifier: MIT
// Sends stacks of columns through the graph and hands the rows they leave at each parameter to a
// consumer, parameter by parameter.
#pragma once

#include <functional>
#include <vector>

#include "flightdeck/parameters.h"
#include "passes/linearisation.h"
#include "passes/rows_collector.h"

namespace flightdeck {

class ColumnsPass {
 public:
  // Takes the rows of one parameter: one entry per column, each with a row per (chosen) sample.
  using Consume = std::function<void(size_t parameter, const std::vector<Rows>& columns)>;

  // `coverage` (optional) learns how rows came about, in the first run only.
  ColumnsPass(Linearisation& linearisation,
              const Parameters& parameters,
              std::vector<int64_t> samples,
              Coverage* coverage);

  // The seeds' stacks have the same number of columns. Only parameters in `wanted` (empty: all) are
  // reported, and none that no column reaches.
  void run(const std::vector<Seed>& seeds,
           const Consume& consume,
           const std::vector<bool>& wanted = {});

  // Returns how many columns may travel together if the largest tensor they become may take
  // `bytes`.
  int64_t columns_at_once(int64_t bytes) const;

 private:
  void run_slow(const std::vector<Seed>& seeds,
                const Consume& consume,
                const std::vector<bool>& wanted);

  int64_t column_bytes() const;

  Linearisation& linearisation_;
  const Capture& capture_;
  Parameters parameters_;
  std::vector<int64_t> samples_;
  Coverage* coverage_;
};

}  // namespace flightdeck

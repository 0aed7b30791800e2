// SPDX-License-Identifier: MIT
// Values of light steps that are still on a device. Nobody waits for them alone: they are fetched
// with the next values that are waited for.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

#include "cockpit/emit.h"
#include "cockpit/step_samples.h"

namespace flightdeck {

class LateValues {
 public:
  struct Item {
    int64_t step = 0;
    double time = 0;  // seconds since 1970
    NamedValues values;
    StepSamples samples;
    std::vector<Tensor> numbers;  // of the values, once they are fetched
  };

  // True if a number of the values is on a device and there is room: whoever records what is to be
  // seen live loses at most a second of it.
  bool may_hold(const NamedValues& values) const;
  void hold(Item item);
  bool is_empty() const { return items_.empty(); }

  // The numbers travel with the transfer; `take` comes after it has run.
  void add_to(Transfer& transfer);
  std::vector<Item> take();

 private:
  std::vector<Item> items_;
  std::chrono::steady_clock::time_point first_;  // when the oldest came
};

}  // namespace flightdeck

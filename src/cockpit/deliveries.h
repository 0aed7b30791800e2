// SPDX-License-Identifier: MIT
// What steps have to say and what is still on its way from a device. Nobody waits for it: values
// are copied behind the work that is queued there and written once they are here, in order.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "cockpit/emit.h"
#include "cockpit/fetched_step.h"
#include "cockpit/pending.h"
#include "cockpit/step_samples.h"

namespace flightdeck {

// Holds what one step says, and what it completes of the step before.
struct Delivery {
  int64_t step = 0;
  double time = 0;  // seconds since 1970
  NamedValues values;
  std::vector<Reading> readings;  // numbers that are known already
  StepSamples samples;
  std::optional<Pending::Completed> completed;
  std::vector<size_t> late;              // tracked quantities that are computed from numbers:
  std::unique_ptr<FetchedStep> fetched;  // from these
};

class Deliveries {
 public:
  // Takes what a light step says. It travels with the next that is sent, or by itself when there
  // are many or after a second.
  void hold(Delivery delivery);
  // Takes what any other step says and starts on it and on all that is held.
  void send(Delivery delivery);

  // Returns those that are here, in the order in which they were taken.
  std::vector<std::unique_ptr<Delivery>> take_fetched();
  // Returns all of them; waits for the devices.
  std::vector<std::unique_ptr<Delivery>> take_all();

 private:
  // Holds deliveries that travel together.
  struct Freight {
    std::vector<std::unique_ptr<Delivery>> deliveries;
    Transfer transfer;
  };

  void start();
  void take_first(std::vector<std::unique_ptr<Delivery>>& taken);

  std::vector<std::unique_ptr<Delivery>> held_;
  std::chrono::steady_clock::time_point first_;  // when the oldest of these came
  std::deque<std::unique_ptr<Freight>> under_way_;
};

}  // namespace flightdeck

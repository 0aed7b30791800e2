// SPDX-License-Identifier: MIT
// Measures what first-order quantities cost beside the plain gradient of the same batch.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "flightdeck/flightdeck.h"
#include "suite/net.h"

namespace flightdeck::cli {

struct FirstOrderQuantity {
  std::string name;
  Need need;
};

/// In the order they are measured by default.
const std::vector<FirstOrderQuantity>& first_order_quantities();

/// How the quantity is asked for.
enum class FirstOrderPath {
  kGradients,   ///< flightdeck::gradients instead of backward(); the mean gradient is asked for too
  kWatch,       ///< Watch beside losses.mean().backward()
  kWatchReuse,  ///< the same with reuse_gradients
};

struct FirstOrderResult {
  double plain_ms = 0;            ///< median
  double ms = 0;                  ///< median
  double ratio = 0;               ///< median over rounds of ms / plain_ms of the same round
  std::optional<double> peak_mb;  ///< peak minus the plain step's peak, in 10^6 bytes
};

/// One network with one random batch on one device.
class FirstOrderBench {
 public:
  FirstOrderBench(const suite::Net& net,
                  int64_t batch_size,
                  const at::Device& device,
                  FirstOrderPath path);

  /// Checks once that the candidate delivers the plain gradient, then times both in turn.
  /// `on_round` is called after every round.
  FirstOrderResult measure(const FirstOrderQuantity& quantity,
                           int warm_up_rounds,
                           int rounds,
                           const std::function<void(int round)>& on_round);

 private:
  double plain_ms();
  double candidate_ms(const FirstOrderQuantity& quantity);
  Tensor losses();
  void plain_step();
  Gradients candidate_step(const FirstOrderQuantity& quantity);
  void check(const FirstOrderQuantity& quantity);
  void drop_gradients();
  double milliseconds(const std::function<void()>& step);

  std::string name_;
  at::Device device_;
  FirstOrderPath path_;
  suite::Model model_;
  Parameters parameters_;
  Tensor inputs_, labels_;
  std::vector<Tensor> directions_;
};

}  // namespace flightdeck::cli

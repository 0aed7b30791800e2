// SPDX-License-Identifier: MIT
// Diagonals and traces of all ranks' samples together: sums, weighted with the samples.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "cockpit/crew_packet.h"
#include "cockpit/plan.h"
#include "flightdeck/curvature.h"

namespace flightdeck {

class JointCurvature {
 public:
  // `own` is null on a rank that has none, of `samples` samples.
  JointCurvature(const Parameters& parameters,
                 const CurvaturePass& pass,
                 const Curvature* own,
                 int64_t samples);
  void add(Packet& packet);
  // Returns the sums after the exchange, or nothing if no rank had samples.
  std::optional<Curvature> take(const Packet& packet) const;

 private:
  const Parameters& parameters_;
  CurvaturePass pass_;
  const Curvature* own_;
  int64_t samples_;
  size_t weight_ = 0;
  std::vector<size_t> entries_;  // in the order in which they were added
};

}  // namespace flightdeck

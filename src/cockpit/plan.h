// SPDX-License-Identifier: MIT
// The planner: joins what the quantities due at a step need, so that each pass runs once.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "flightdeck/quantity.h"

namespace flightdeck {

// Describes one quantity at work in one run.
struct TrackedQuantity {
  Quantity quantity;
  Quantity::Functions functions;
  bool is_on = true;

  // Includes what its functions take, whatever else was declared.
  StepNeeds needs() const;
  bool is_due(int64_t step) const { return is_on && quantity.due().contains(step); }
};

struct CurvaturePass {
  CurvatureBatch batch;
  CurvatureNeeds needs;
};

struct Plan {
  int64_t step = 0;
  std::vector<size_t> due;  // positions of tracked quantities
  bool ends_chord = false;  // the step before wants loss and slope at its end
  Needs gradients;
  std::vector<Bins> histograms;
  std::vector<JointBins> joint_histograms;
  std::vector<CurvaturePass> curvature;
  std::vector<SpectrumNeed> spectra;  // one per matrix
  std::vector<VivitNeed> vivits;
  bool activations = false, update = false, chord = false;
  bool is_light = true;  // nothing of the graph is read

  bool is_empty() const { return due.empty() && !ends_chord; }
  // Returns true if the individual gradients of the user's backward pass are listened to.
  bool has_gradient_pass() const { return asks_gradients() || chord || ends_chord; }
  // Returns true if individual gradients are among what it asks of them.
  bool asks_rows() const;
  // Asks from here on for nothing that needs the samples told apart.
  void leave_out_rows();
  std::string text(const std::vector<TrackedQuantity>& all_tracked) const;

 private:
  bool asks_gradients() const;
};

// Is called inside a catch block with the position of a tracked quantity whose due steps or needs
// threw; it is left out of the plan.
using PlanFailure = std::function<void(size_t tracked)>;

Plan make_plan(int64_t step,
               const std::vector<TrackedQuantity>& all_tracked,
               bool ends_chord,
               const PlanFailure& on_failure);

// Returns true if the quantity needs the gradient pass.
bool needs_gradients(const StepNeeds& needs);
// Returns true if it needs individual gradients.
bool needs_rows(const StepNeeds& needs);
// Return true if both speak of the same matrix.
bool is_same_matrix(const SpectrumNeed& a, const SpectrumNeed& b);
bool is_same_matrix(const VivitNeed& a, const VivitNeed& b);

}  // namespace flightdeck

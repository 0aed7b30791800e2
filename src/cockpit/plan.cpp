// SPDX-License-Identifier: MIT
#include "cockpit/plan.h"

#include <algorithm>
#include <sstream>

#include "passes/gradient_fields.h"

namespace flightdeck {
namespace {

template <typename T>
void add_if_new(std::vector<T>& list, const T& item) {
  if (std::find(list.begin(), list.end(), item) == list.end()) list.push_back(item);
}

void join(std::vector<CurvaturePass>& passes, const StepNeeds& needs) {
  if (needs.curvature.empty()) return;
  for (CurvaturePass& pass : passes) {
    if (!(pass.batch == needs.curvature_batch)) continue;
    pass.needs = pass.needs | needs.curvature;
    return;
  }
  passes.push_back({needs.curvature_batch, needs.curvature});
}

void join(std::vector<SpectrumNeed>& spectra, const SpectrumNeed& need) {
  for (SpectrumNeed& other : spectra) {
    if (!is_same_matrix(other, need)) continue;
    other.largest = std::max(other.largest, need.largest);
    other.smallest = std::max(other.smallest, need.smallest);
    other.tolerance = std::min(other.tolerance, need.tolerance);
    other.max_products = std::max(other.max_products, need.max_products);
    other.until_proved |= need.until_proved;
    return;
  }
  spectra.push_back(need);
}

void join(std::vector<VivitNeed>& vivits, const VivitNeed& need) {
  for (VivitNeed& other : vivits) {
    if (!is_same_matrix(other, need)) continue;
    other.gradients = other.gradients || need.gradients;
    return;
  }
  vivits.push_back(need);
}

std::string samples_text(int64_t samples) {
  return samples == 0 ? "all samples" : "the first " + std::to_string(samples) + " samples";
}

const char* name_of(CurvatureKind kind) {
  switch (kind) {
    case CurvatureKind::kHessian:
      return "Hessian";
    case CurvatureKind::kGgn:
      return "GGN";
    case CurvatureKind::kEmpiricalFisher:
      return "empirical Fisher";
    case CurvatureKind::kPchClip:
    case CurvatureKind::kPchAbs:
      return "PCH";
  }
  return "matrix";
}

std::string names_of(CurvatureNeeds needs) {
  const std::pair<CurvatureNeed, const char*> all[] = {
      {CurvatureNeed::kDiagGgn, "diagonal of the GGN"},
      {CurvatureNeed::kDiagGgnMc, "diagonal of the sampled GGN"},
      {CurvatureNeed::kDiagHessian, "diagonal of the Hessian"},
      {CurvatureNeed::kTraceGgn, "trace of the GGN"},
      {CurvatureNeed::kTraceGgnMc, "trace of the sampled GGN"},
      {CurvatureNeed::kTraceHessian, "trace of the Hessian"}};
  std::string text;
  for (const auto& [need, name] : all) {
    if (needs.has(need)) text += (text.empty() ? "" : ", ") + std::string(name);
  }
  return text.empty() ? "other curvature" : text;
}

std::string names_of(const Plan& plan) {
  std::string text;
  const auto add = [&text](const std::string& name) { text += (text.empty() ? "" : ", ") + name; };
  for (const GradientField& field : gradient_fields()) {
    if (plan.gradients.has(field.need)) add(field.in_words);
  }
  if (!plan.histograms.empty()) add(std::to_string(plan.histograms.size()) + " histogram(s)");
  if (!plan.joint_histograms.empty()) {
    add(std::to_string(plan.joint_histograms.size()) + " joint histogram(s)");
  }
  if (plan.ends_chord) add("slopes along the last update");
  if (plan.chord) add("factors kept for the slopes along this update");
  return text;
}

}  // namespace

bool needs_gradients(const StepNeeds& needs) {
  return !needs.gradients.empty() || needs_rows(needs);
}

bool needs_rows(const StepNeeds& needs) {
  return asks_rows(needs.gradients) || !needs.histograms.empty() ||
         !needs.joint_histograms.empty() || needs.chord;
}

bool is_same_matrix(const SpectrumNeed& a, const SpectrumNeed& b) {
  return a.kind == b.kind && a.samples == b.samples && a.is_preconditioned == b.is_preconditioned;
}

bool is_same_matrix(const VivitNeed& a, const VivitNeed& b) {
  if (a.samples != b.samples || a.columns != b.columns) return false;
  return a.columns == LossColumns::kExact || a.mc_samples == b.mc_samples;
}

bool Plan::asks_gradients() const {
  return !gradients.empty() || !histograms.empty() || !joint_histograms.empty();
}

bool Plan::asks_rows() const {
  return flightdeck::asks_rows(gradients) || !histograms.empty() || !joint_histograms.empty() ||
         chord || ends_chord;
}

void Plan::leave_out_rows() {
  gradients = gradients.has(Need::kArrivedNorm) ? Needs(Need::kArrivedNorm) : Needs();
  histograms.clear();
  joint_histograms.clear();
  chord = ends_chord = false;
}

StepNeeds TrackedQuantity::needs() const {
  StepNeeds needs = functions.needs ? functions.needs() : quantity.needs();
  needs.update = needs.update || functions.after_update;
  needs.chord = needs.chord || functions.after_next;
  return needs;
}

Plan make_plan(int64_t step,
               const std::vector<TrackedQuantity>& all_tracked,
               bool ends_chord,
               const PlanFailure& on_failure) {
  Plan plan;
  plan.step = step;
  plan.ends_chord = ends_chord;
  plan.is_light = !ends_chord;
  for (size_t k = 0; k < all_tracked.size(); ++k) {
    StepNeeds needs;
    try {
      if (!all_tracked[k].is_due(step)) continue;
      needs = all_tracked[k].needs();
    } catch (...) {
      on_failure(k);
      continue;
    }
    plan.due.push_back(k);
    plan.is_light = plan.is_light && all_tracked[k].quantity.is_light();
    plan.gradients = plan.gradients | needs.gradients;
    for (const Bins& bins : needs.histograms) add_if_new(plan.histograms, bins);
    for (const JointBins& bins : needs.joint_histograms) add_if_new(plan.joint_histograms, bins);
    join(plan.curvature, needs);
    if (needs.spectrum) join(plan.spectra, *needs.spectrum);
    if (needs.vivit) join(plan.vivits, *needs.vivit);
    plan.activations = plan.activations || needs.activations;
    plan.update = plan.update || needs.update || needs.chord;
    plan.chord = plan.chord || needs.chord;
  }
  return plan;
}

std::string Plan::text(const std::vector<TrackedQuantity>& all_tracked) const {
  std::ostringstream out;
  out << "step " << step << ": ";
  if (is_empty()) {
    out << "nothing is due\n";
    return out.str();
  }
  std::string names;
  for (size_t k : due) names += (names.empty() ? "" : ", ") + all_tracked[k].quantity.name();
  out << (names.empty() ? "completes the step before" : names) << "\n";
  const char* before = "  before backward:   ";
  for (const CurvaturePass& pass : curvature) {
    out << before << "one columns pass over " << samples_text(pass.batch.samples) << ": "
        << names_of(pass.needs) << "\n";
  }
  for (const SpectrumNeed& need : spectra) {
    out << before << "at most " << need.max_products << " products with the "
        << (need.is_preconditioned ? "preconditioned " : "") << name_of(need.kind) << " of "
        << samples_text(need.samples) << ": " << need.largest << " largest, " << need.smallest
        << " smallest eigenvalues\n";
  }
  for (const VivitNeed& need : vivits) {
    out << before << "one Gram matrix of the "
        << (need.columns == LossColumns::kExact ? "" : "sampled ") << "GGN of "
        << samples_text(need.samples) << "\n";
  }
  if (activations) out << before << "saved activations are read\n";
  if (has_gradient_pass()) out << "  during backward:   " << names_of(*this) << "\n";
  if (update) out << "  at the next step:  the update is compared with the parameters kept here\n";
  return out.str();
}

}  // namespace flightdeck

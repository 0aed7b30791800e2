// SPDX-License-Identifier: MIT
// Random models made to lead the engine astray: what a user may write and the plain generator never
// does. One seed, one case; features are composed at random on top of the plain blocks.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "conformance/random_model.h"
#include "flightdeck/flightdeck.h"

namespace flightdeck::tests {

struct AdverseModel {
  Tensor losses;           // what the engine is given: [N], or a scalar with `batch_size`
  int64_t batch_size = 0;  // of a scalar loss
  Reduction reduction = Reduction::kMean;
  bool contradicts_reduction = false;  // it is a mean that is said to be a sum, or a sum a mean
  // The l_n that all answers are about, [N]; undefined where the scalar loss has none and has to
  // be refused.
  Tensor terms;
  // The terms without the summands that have one value for all samples; see has_shared_terms.
  Tensor unshared_terms;
  bool has_shared_terms = false;
  Tensor outputs;               // what the losses were computed from
  bool has_known_head = false;  // the engine finds the outputs without help
  // Parameters reach the losses past the outputs: penalties, learned weights.
  bool has_bypass = false;
  std::vector<Tensor> bypasses;
  std::vector<NamedParameter> parameters;
  Tensor other_loss;                // a scalar of its own, through the same trunk
  std::vector<Tensor> activations;  // on the way to the losses, for hooks
  std::set<std::string> features;
  bool is_coupled = false;  // a sample's loss depends on other samples, by ops that can be read
  bool has_coupled_outputs = false;        // already the outputs do
  bool is_twice_differentiable = true;     // a custom backward need not be the derivative's
  at::ScalarType narrowest = at::kDouble;  // the least precise type in the graph
  std::string description;

  int64_t N() const { return terms.defined() ? terms.size(0) : batch_size; }
  const Tensor& terms_with(SharedTerms shared) const {
    return shared == SharedTerms::kKeep ? terms : unshared_terms;
  }
  // Sometimes asks to leave shared terms out, where there are any. One sample shares with none.
  SharedTerms random_sharing(Sketch& dice) const {
    const bool can_leave_out = has_shared_terms && terms.defined() && N() > 1;
    return can_leave_out && dice.chance(0.3) ? SharedTerms::kLeaveOut : SharedTerms::kKeep;
  }
};

// The same seed gives the same model; with the `reused` parameters of an earlier one, the same
// model on the same samples with the values these have now. In the `twin` for the oracle, terms
// that go past the outputs read the parameters through `bypasses`.
AdverseModel adverse_model(uint64_t seed,
                           const std::vector<NamedParameter>& reused = {},
                           bool is_twin = false);

// A sketch that keeps account of its features.
class AdverseSketch : public Sketch {
 public:
  using Sketch::Sketch;

  // Where the samples are.
  int64_t batch_axis() const { return kind == Kind::kSequence && is_time_major ? 1 : 0; }
  // The activations with the samples first.
  Tensor batch_major() const { return state.transpose(0, batch_axis()); }
  void set_batch_major(const Tensor& x) { state = x.transpose(0, batch_axis()); }
  // x W' + b over the last dimension.
  Tensor linear(const Tensor& x, int64_t outputs);
  // The parameter on its way past the outputs.
  Tensor bypass(const Tensor& parameter);
  // Zeros and ones, in the type of the activations.
  Tensor mask(at::IntArrayRef shape);
  void feature(const std::string& name, const std::string& word);
  void narrow_to(at::ScalarType type);

  AdverseModel model;
  bool is_twin = false;
};

// Each changes the activations by one random block of its theme.
void grow_shared(AdverseSketch& sketch);
void grow_in_place(AdverseSketch& sketch);
void grow_parameter_views(AdverseSketch& sketch);
void grow_ragged(AdverseSketch& sketch);
void grow_routed(AdverseSketch& sketch);
void grow_sorted(AdverseSketch& sketch);
void grow_detached(AdverseSketch& sketch);
void grow_mixed_types(AdverseSketch& sketch);
void grow_custom(AdverseSketch& sketch);
void grow_coupled(AdverseSketch& sketch);
void grow_complex_parts(AdverseSketch& sketch);

// Forms the losses: individual or scalar, with penalties, weights and rearrangements.
void end_adverse(AdverseSketch& sketch);

}  // namespace flightdeck::tests

// SPDX-License-Identifier: MIT
// Optimizers that read the curvature from the graph of the losses. They are told the losses after
// the forward pass and before backward(), which frees the graph:
//
//   optimizer.zero_grad();
//   const Tensor losses = ...;  // [N], one per sample
//   optimizer.observe(losses);
//   losses.mean().backward();
//   optimizer.step();
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "flightdeck/gradients.h"
#include "flightdeck/parameters.h"
#include "suite/checked_optimizer.h"

namespace flightdeck::suite {

/// What is minimised: the mean of individual losses, and what belongs to it besides.
struct Objective {
  Tensor losses;   ///< [N], with their graph
  Tensor outputs;  ///< the model's, where the loss is one that the engine does not know
  /// Has for every parameter, in the order of the optimizer, the strength δ of a penalty
  /// δ/2 ||x||² on the mean loss. Empty: there is none.
  std::vector<double> l2;
  BatchNormPolicy batch_norm = BatchNormPolicy::kRefuse;
};

/// A parameter group and the losses whose curvature is measured.
struct Observation {
  const Objective& objective;
  Parameters parameters;
  std::vector<double> l2;  ///< per parameter, weight decay added
  uint64_t seed;           ///< another one in every step

  /// Returns the observed losses, to be asked about all the parameters, or about some of them.
  flightdeck::Batch batch() const { return batch(parameters); }
  flightdeck::Batch batch(const Parameters& of) const {
    flightdeck::BatchOptions options;
    options.outputs = objective.outputs;
    options.batch_norm = objective.batch_norm;
    return {objective.losses, of, std::move(options)};
  }
};

/// Turns a gradient into what is subtracted from the parameter, up to the learning rate.
using Preconditioner = std::function<Tensor(const Tensor& gradient)>;

/// Hyperparameters and the curvature that they stand for.
class CurvatureFormulaOptions : public CheckedOptions {
 public:
  double damping = 1e-2;

  /// Returns for every parameter the tensors of its state, or none where the losses do not depend
  /// on it.
  virtual std::vector<std::vector<Tensor>> measure(const Observation& observation) const = 0;
  /// Makes the preconditioner of a measurement; `l2` is as in the observation.
  virtual Preconditioner prepare(const std::vector<Tensor>& measured, double l2) const = 0;
  /// Returns for how many steps a measurement serves.
  virtual int64_t measured_every() const { return 1; }
};

/// Takes the steps of CurvatureFormulaOptions; the curvature is taken within a parameter group.
///
/// Parameters without a gradient are left out. torch::save and torch::load keep measurements,
/// hyperparameters and the place in the sequence of random numbers; a training goes on to the bit.
class CurvatureOptimizer : public CheckedOptimizer {
 public:
  /// Reads the graph of the losses, which stays usable; to be called once before every step. Throws
  /// where a parameter is not covered, naming it.
  void observe(const Objective& objective);
  void observe(const Tensor& losses);

  /// Throws unless losses were observed since the last step. A closure may do that itself.
  Tensor step(LossClosure closure = nullptr) override;

  /// Names parameters for messages, in their order; without names they are "0", "1", ...
  void name_parameters(std::vector<std::string> names);
  /// Sets the seed of the sampled curvatures; it is 0 otherwise.
  void set_seed(uint64_t seed) { seed_ = seed; }

  void save(torch::serialize::OutputArchive& archive) const override;
  void load(torch::serialize::InputArchive& archive) override;

 protected:
  CurvatureOptimizer(std::vector<torch::optim::OptimizerParamGroup> groups,
                     std::unique_ptr<CurvatureFormulaOptions> options);

 private:
  std::string name_of(size_t index) const;
  void measure(const Objective& objective,
               const CurvatureFormulaOptions& options,
               size_t begin,
               size_t group);
  const Preconditioner& preconditioner(const CurvatureFormulaOptions& options,
                                       size_t index,
                                       const FormulaState& state);

  std::vector<std::string> names_;
  std::vector<Preconditioner> preconditioners_;  // empty where the state has changed
  uint64_t seed_ = 0;
  int64_t steps_ = 0;
  bool is_observed_ = false;
};

template <typename Options>
class CurvatureOptimizerOf : public CurvatureOptimizer {
 public:
  explicit CurvatureOptimizerOf(std::vector<torch::optim::OptimizerParamGroup> groups,
                                const Options& options = Options())
      : CurvatureOptimizer(std::move(groups), std::make_unique<Options>(options)) {}
  explicit CurvatureOptimizerOf(std::vector<Tensor> parameters, const Options& options = Options())
      : CurvatureOptimizerOf(
            std::vector<torch::optim::OptimizerParamGroup>{
                torch::optim::OptimizerParamGroup(std::move(parameters))},
            options) {}
};

/// Returns the catalogue's entry of these options.
template <typename Options>
OptimizerEntry curvature_entry_of(std::string summary) {
  return make_entry<Options, CurvatureOptimizerOf<Options>>(std::move(summary));
}

}  // namespace flightdeck::suite

// SPDX-License-Identifier: MIT
// Small models of many kinds, each with the loss it is trained on: the table that the tests of
// curvature run over.
#pragma once

#include <functional>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "curvature/dense_oracle.h"
#include "tensors.h"

namespace flightdeck::tests {

// One forward pass.
struct Model {
  Tensor losses;   // [N]
  Tensor outputs;  // [N, ...]: what lies between them and the losses is the loss
  Parameters parameters;
};

struct ModelCase {
  std::string name;
  std::function<Model()> make;
  // The outputs are piecewise linear in every parameter alone: GGN and Hessian have the same
  // blocks on the diagonal.
  bool is_piecewise_linear = false;
};

void PrintTo(const ModelCase& model, std::ostream* stream);
std::string name_of_model(const ::testing::TestParamInfo<ModelCase>& instance);

// About two dozen models of a few hundred parameters.
const std::vector<ModelCase>& models();
const ModelCase& model_named(const std::string& name);

// What `make` returns, made once for each key and then kept: oracles take longer than tests.
template <typename Make>
const auto& kept(const std::string& key, const Make& make) {
  static std::map<std::string, decltype(make())> all;
  const auto found = all.find(key);
  return found != all.end() ? found->second : all.emplace(key, make()).first->second;
}

// A test of one model. It is made anew for every test, with the same numbers each time.
class ModelTest : public ::testing::TestWithParam<ModelCase> {
 protected:
  ModelTest();

  const Tensor& losses() const { return model_.losses; }
  const Parameters& parameters() const { return model_.parameters; }
  int64_t batch_size() const { return model_.losses.size(0); }
  const DenseCurvature& dense() const;
  // A part of the batch, out of order.
  std::vector<int64_t> some_samples() const { return {batch_size() - 1, 0}; }

  Model model_;
};

// A model with the generator set to a fixed state.
Model make_model(const ModelCase& model);

// Individual losses [N] of outputs [N, C].
Tensor cross_entropies(const Tensor& outputs, const Tensor& labels);
Tensor mean_squared_errors(const Tensor& outputs, const Tensor& targets);

}  // namespace flightdeck::tests

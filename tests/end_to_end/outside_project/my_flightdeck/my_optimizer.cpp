// SPDX-License-Identifier: MIT
#include <suite/optimizers/hyperparameters.h>
#include <suite/update_formula.h>

namespace {

namespace suite = flightdeck::suite;

// Descent along the signs of the gradient's entries: x <- x - rate sign(g).
class MyOptimizer : public suite::FormulaOptionsOf<MyOptimizer> {
 public:
  MyOptimizer() { learning_rate = 0.01; }

  std::string name() const override { return "my_optimizer"; }
  std::vector<suite::Field> fields() override { return {suite::rate_field(learning_rate)}; }
  const std::vector<std::string>& state_names() const override {
    static const std::vector<std::string> none;
    return none;
  }
  void update(at::Tensor& parameter,
              const at::Tensor& gradient,
              suite::FormulaState&) const override {
    parameter.sub_(gradient.sign(), learning_rate);
  }
};

const bool kHasMyOptimizer =
    suite::register_optimizer(suite::entry_of<MyOptimizer>("descent along signs"));

}  // namespace

// SPDX-License-Identifier: MIT
// What is said of curvature without computing it is what is said when it is computed.
#include "errors.h"
#include "flightdeck/curvature_coverage.h"
#include "tensors.h"

namespace flightdeck::tests {
namespace {

namespace nn = torch::nn;

class CurvatureCoverage : public SeededTest {
 protected:
  // An op without a rule for stacks, one whose second derivative is no diagonal, and a kink.
  Tensor losses() {
    const Tensor hidden = second_->forward(first_->forward(inputs_).cumsum(1).tanh()).softmax(1);
    return nn::functional::mse_loss(
               hidden, targets_, nn::functional::MSELossFuncOptions().reduction(torch::kNone))
        .mean(1);
  }
  Parameters parameters() const {
    return std::vector<NamedParameter>{{"first", first_->weight}, {"second", second_->weight}};
  }

  nn::Linear first_ = on_device(nn::Linear(5, 4));
  nn::Linear second_ = on_device(nn::Linear(4, 3));
  Tensor inputs_ = random({3, 5}), targets_ = random({3, 3});
};

TEST_F(CurvatureCoverage, SaysWhatTheComputationSays) {
  for (const CurvatureNeed need :
       {CurvatureNeed::kTraceGgn, CurvatureNeed::kTraceHessian, CurvatureNeed::kTraceGgnMc}) {
    const Curvature whole = curvature(losses(), parameters(), need);
    const Curvature rehearsed = curvature_coverage(losses(), parameters(), need);
    EXPECT_EQ(rehearsed.remarks, whole.remarks);
    EXPECT_EQ(rehearsed.coverage.text(), whole.coverage.text());
    EXPECT_TRUE(rehearsed.parameters.empty());
    EXPECT_FALSE(rehearsed.total.trace_ggn.defined());
  }
}

TEST_F(CurvatureCoverage, RefusesWhatTheComputationRefuses) {
  CurvatureOptions options;
  options.max_slow_entries = 1;
  const Tensor bent = (losses() * first_->weight.square().sum()).exp();
  const auto ask = [&](const auto& how) {
    try {
      static_cast<void>(how(Batch(bent, parameters())));
    } catch (const c10::Error& error) {
      return std::string(error.what_without_backtrace());
    }
    return std::string("nothing");
  };
  const auto rehearse = [&](const Batch& batch) {
    return curvature_coverage(batch, CurvatureNeed::kTraceHessian, options);
  };
  const auto compute = [&](const Batch& batch) {
    return curvature(batch, CurvatureNeed::kTraceHessian, options);
  };
  EXPECT_EQ(ask(rehearse), ask(compute));
  EXPECT_NE(ask(compute), "nothing");
}

}  // namespace
}  // namespace flightdeck::tests

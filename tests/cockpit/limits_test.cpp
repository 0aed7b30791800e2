// SPDX-License-Identifier: MIT
// What happens where the exact way would take too long, and where memory runs out.
#include <cmath>

#include "cockpit/loop.h"

namespace flightdeck::tests {
namespace {

// ---- sequences ----

// Losses [N] of sequences with T (C - 1) columns: the mean over the positions.
class Sequences {
 public:
  Sequences(int64_t T, int64_t C)
      : T_(T), C_(C), net_(on_device(torch::nn::Sequential(torch::nn::Linear(3, C)))) {}

  Parameters parameters() const { return net_->named_parameters(); }

  Tensor losses() {
    namespace F = torch::nn::functional;
    torch::manual_seed(5);
    const Tensor outputs = net_->forward(random({4, T_, 3})).transpose(1, 2);
    return F::cross_entropy(outputs,
                            random_integers({4, T_}, C_),
                            F::CrossEntropyFuncOptions().reduction(torch::kNone))
        .mean(1);
  }

 private:
  int64_t T_, C_;
  torch::nn::Sequential net_;
};

bool has_remark(const MemorySink& memory, const std::string& words) {
  for (const Note& note : memory.notes()) {
    if (note.text.find(words) != std::string::npos) return true;
  }
  return false;
}

class Limits : public SeededTest {};

TEST_F(Limits, SequencesOfManyColumnsAreSampledAndTheRecordSaysSo) {
  for (const int64_t T : {10, 60}) {  // 110 columns, and 660
    SCOPED_TRACE(T);
    Sequences training(T, 12);
    const auto named = [](const char* name, const char* matrix) {
      return quantity("hess_trace", {{"curvature", matrix}}).named(name);
    };
    Listened listened(training.parameters(),
                      {quantity("hess_trace"),
                       quantity("tic_diag"),
                       named("sampled", "ggn_mc"),
                       named("exact", "exact_hessian")},
                      /*strict=*/true);
    for (int64_t step = 0; step < 2; ++step) {
      const Tensor losses = training.losses();
      const Curvature all = curvature(
          losses, training.parameters(), CurvatureNeed::kTraceHessian | CurvatureNeed::kTraceGgn);
      StepWatch watch = listened.cockpit->watch(step, losses);
      losses.mean().backward();
      watch.end();
      const auto value = [&](const char* name) { return listened.memory->number(step, name); };
      const double exact = number(all.total.trace_hessian);
      EXPECT_NEAR(value("exact"), exact, 1e-9 * std::abs(exact));
      if (T == 10) {
        EXPECT_NEAR(value("hess_trace"), value("exact"), 1e-9 * std::abs(exact));
      } else {
        EXPECT_NEAR(value("hess_trace"), value("sampled"), 1e-9 * std::abs(exact));
        EXPECT_GT(std::abs(value("hess_trace") - exact), 1e-6 * std::abs(exact));
        EXPECT_NEAR(value("hess_trace"), exact, 0.5 * exact);
      }
      EXPECT_TRUE(std::isfinite(value("tic_diag")));
    }
    EXPECT_EQ(has_remark(*listened.memory, "curvature=exact_hessian"), T == 60);
    EXPECT_EQ(has_remark(*listened.memory, "at least 660 columns"), T == 60);
  }
}

TEST_F(Limits, ACurvatureOfMoreColumnsThanAreAllowedIsRefusedByName) {
  Sequences training(10, 12);
  CurvatureOptions options;
  options.max_columns = 109;
  try {
    static_cast<void>(
        curvature(training.losses(), training.parameters(), CurvatureNeed::kDiagGgn, options));
    FAIL() << "110 columns were taken";
  } catch (const c10::ValueError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("at least 110 columns"), std::string::npos) << text;
    EXPECT_NE(text.find("max_columns = 109"), std::string::npos) << text;
  }
  options.max_columns = 110;
  EXPECT_NO_THROW(static_cast<void>(
      curvature(training.losses(), training.parameters(), CurvatureNeed::kDiagGgn, options)));
}

// ---- memory ----

int times_without_memory = 0;

// Twice its input; its gradient cannot be had as often as the number above says.
struct Greedy : torch::autograd::Function<Greedy> {
  static Tensor forward(torch::autograd::AutogradContext*, const Tensor& x) { return x * 2; }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext*,
                                                 torch::autograd::variable_list gradients) {
    if (times_without_memory > 0) {
      --times_without_memory;
      throw c10::OutOfMemoryError({__func__, __FILE__, __LINE__}, "no 7 GiB are left");
    }
    return {gradients[0] * 2};
  }
};

// Its weight is used by an op without a rule: rows and columns ask the node.
class GreedyTraining {
 public:
  GreedyTraining() : weight_(random_parameter({5, 3})) {}

  Parameters parameters() const { return ParameterList().add("weight", weight_); }

  Tensor losses() {
    torch::manual_seed(6);
    const Tensor outputs = Greedy::apply(torch::tanh(random({4, 5}).mm(weight_)));
    return losses_of(outputs);
  }

  void step(Cockpit& cockpit, int64_t number, int in_curvature, int in_backward) {
    weight_.mutable_grad() = Tensor();
    const Tensor losses = this->losses();
    times_without_memory = in_curvature;
    StepWatch watch = cockpit.watch(number, losses);
    times_without_memory = in_backward;
    losses.mean().backward();
    EXPECT_EQ(times_without_memory, 0);
    watch.end();
  }

  Tensor gradient() const { return weight_.grad(); }

 private:
  Tensor weight_;
};

std::vector<Quantity> quantities_of_all_passes() {
  return {quantity("hess_trace", {{"curvature", "ggn"}}), quantity("norm_test"), quantity("loss")};
}

TEST_F(Limits, CurvatureWithoutMemoryIsTakenAgainInSmallerPieces) {
  GreedyTraining training;
  Listened plain(training.parameters(), quantities_of_all_passes());
  Listened scarce(training.parameters(), quantities_of_all_passes());
  training.step(*plain.cockpit, 0, 0, 0);
  const Tensor gradient = training.gradient();
  training.step(*scarce.cockpit, 0, /*in_curvature=*/2, 0);
  EXPECT_TRUE(identical(training.gradient(), gradient));
  for (const char* name : {"hess_trace", "norm_test", "loss"}) {
    EXPECT_EQ(scarce.memory->number(0, name), plain.memory->number(0, name)) << name;
  }
  EXPECT_TRUE(has_remark(*scarce.memory, "out of memory at step 0"));
  EXPECT_TRUE(has_remark(*scarce.memory, "7 GiB"));
  EXPECT_FALSE(has_remark(*plain.memory, "out of memory"));
}

TEST_F(Limits, AGradientPassWithoutMemoryLosesOneStepAndNothingElse) {
  GreedyTraining training;
  Listened plain(training.parameters(), quantities_of_all_passes());
  Listened scarce(training.parameters(), quantities_of_all_passes());
  for (int64_t step = 0; step < 2; ++step) {
    training.step(*plain.cockpit, step, 0, 0);
    const Tensor gradient = training.gradient();
    training.step(*scarce.cockpit, step, 0, /*in_backward=*/step == 0 ? 1 : 0);
    EXPECT_TRUE(identical(training.gradient(), gradient));
  }
  EXPECT_EQ(scarce.memory->find(0, "norm_test"), nullptr);
  EXPECT_NE(scarce.memory->find(0, "loss"), nullptr);
  EXPECT_EQ(scarce.memory->number(1, "norm_test"), plain.memory->number(1, "norm_test"));
  EXPECT_TRUE(has_remark(*scarce.memory, "individual gradients: out of memory at step 0"));
}

TEST_F(Limits, MemoryThatNeverSufficesSwitchesOffWhatAskedForIt) {
  GreedyTraining training;
  Listened listened(training.parameters(), quantities_of_all_passes());
  training.step(*listened.cockpit, 0, /*in_curvature=*/9, 0);
  training.step(*listened.cockpit, 1, 0, 0);
  EXPECT_EQ(listened.memory->find(1, "hess_trace"), nullptr);
  EXPECT_NE(listened.memory->find(1, "norm_test"), nullptr);
  EXPECT_FALSE(listened.warnings.empty());
}

}  // namespace
}  // namespace flightdeck::tests

// SPDX-License-Identifier: MIT
// An op that hands everything on and has work of the program's behind it, as those of
// DistributedDataParallel and fully_shard: answers are exact and the node is never called for them.
#include "errors.h"
#include "extending/custom_ops.h"
#include "flightdeck/curvature.h"
#include "flightdeck/products.h"
#include "oracle.h"

namespace flightdeck::tests {
namespace {

int64_t calls = 0;

struct Courier : torch::autograd::Function<Courier> {
  static variable_list forward(AutogradContext*, const Tensor& x, const Tensor& y) {
    return {x.clone(), y.clone()};
  }
  static variable_list backward(AutogradContext*, variable_list gradients) {
    ++calls;
    return gradients;
  }
};

class CourierRule : public CustomRule {
 public:
  std::string name() const override { return "user_courier"; }
  std::vector<std::string> nodes() const override { return {CustomFunction<Courier>::node_name()}; }
  Layout input_layout(const OpNode&, size_t, const Layout& out) const override { return out; }
  bool hands_on() const override { return true; }
};

const bool kIsRegistered = register_rule(std::make_unique<CourierRule>());

// Without a rule: what lies below takes a pass per sample.
struct Opaque : torch::autograd::Function<Opaque> {
  static Tensor forward(AutogradContext*, const Tensor& x) { return 2 * x; }
  static variable_list backward(AutogradContext*, variable_list gradients) {
    return {2 * gradients[0]};
  }
};

class HandingOn : public SeededTest {
 protected:
  void SetUp() override {
    SeededTest::SetUp();
    ASSERT_TRUE(kIsRegistered);
    w_ = random_parameter({4, 3});
    v_ = random_parameter({4, 3});
    u_ = random_parameter({3, 2});
    parameters_ = {{"w", w_}, {"v", v_}, {"u", u_}};
  }

  // [N]; both outputs of the courier are used.
  Tensor losses(const Tensor& x, bool is_handed_on = true, bool is_opaque = false) {
    hidden_ = x.mm(w_).tanh();
    variable_list both{hidden_, x.mm(v_)};
    if (is_handed_on) both = Courier::apply(both[0], both[1]);
    Tensor outputs = (both[0] * both[1]).mm(u_);
    if (is_opaque) outputs = Opaque::apply(outputs);
    return outputs.square().sum(1);
  }

  void expect_rows(int64_t N, bool is_opaque) {
    const Tensor given = losses(random({N, 4}), true, is_opaque);
    const Oracle oracle = differentiate(given, parameters_);
    const int64_t before = calls;
    const Gradients answers = gradients(given, parameters_, Need::kIndividual | Need::kNorms);
    EXPECT_EQ(calls, before);
    expect_matches_oracle(answers, oracle, Need::kIndividual | Need::kNorms, {});
  }

  std::vector<NamedParameter> parameters_;
  Tensor w_, v_, u_, hidden_;
};

TEST_F(HandingOn, GivesTheRowsOfAPassOfOurOwnWithoutACall) { expect_rows(5, false); }

TEST_F(HandingOn, GivesTheRowOfASingleSampleWithoutACall) { expect_rows(1, false); }

TEST_F(HandingOn, GivesRowsOfOnePassPerSampleWithoutACall) { expect_rows(5, true); }

TEST_F(HandingOn, IsCalledOnceByAWatchedPassWhoseRowsComeFromAPassOfItsOwn) {
  const Tensor x = random({5, 4});
  const Tensor given = losses(x);
  hidden_.register_hook([](const Tensor& gradient) { return gradient * 2; });
  const Oracle oracle = differentiate(losses(x), parameters_);
  const int64_t before = calls;
  Watch watch(given, parameters_, Need::kIndividual);
  given.mean().backward();
  const Gradients answers = watch.finish();
  EXPECT_EQ(calls, before + 1);
  expect_matches_oracle(answers, oracle, Need::kIndividual, {});
}

TEST_F(HandingOn, GivesTheCurvatureOfTheModelWithoutItAndWithoutACall) {
  const Tensor x = random({5, 4});
  for (const CurvatureKind kind : {CurvatureKind::kHessian, CurvatureKind::kGgn}) {
    const Tensor given = losses(x);
    const auto plain = curvature_operator(losses(x, false), parameters_, kind);
    const Tensor vectors = random({3, plain->dim()});
    const Tensor expected = plain->multiply(vectors);
    const int64_t before = calls;
    const auto handed = curvature_operator(given, parameters_, kind);
    expect_close(handed->multiply(vectors), expected, "products");
    EXPECT_EQ(calls, before);
    EXPECT_EQ(handed->remarks(), plain->remarks());
  }
}

// The second derivative of an op is asked for at what it was given, where the program may listen.
TEST_F(HandingOn, HooksOnTensorsAreNotCalledForTheCurvatureOfTheOpBehind) {
  const Tensor x = random({5, 4});
  int64_t heard = 0;
  const auto products = [&](bool has_hook, const Tensor& vectors) {
    const Tensor hidden = x.mm(w_);
    if (has_hook) {
      hidden.register_hook([&heard](const Tensor& gradient) {
        ++heard;
        return gradient * 2;
      });
    }
    const Tensor given = at::layer_norm(hidden, {3}).mm(u_).square().sum(1);
    const std::vector<NamedParameter> used{{"w", w_}, {"u", u_}};
    return curvature_operator(given, used, CurvatureKind::kHessian)->multiply(vectors);
  };
  const Tensor vectors = random({2, 18});
  expect_close(products(true, vectors), products(false, vectors), "products");
  EXPECT_EQ(heard, 0);
}

TEST_F(HandingOn, GivesTheDiagonalsOfTheModelWithoutItAndWithoutACall) {
  const Tensor x = random({5, 4});
  const auto what = CurvatureNeed::kDiagGgn | CurvatureNeed::kDiagHessian;
  const Curvature expected = curvature(Batch(losses(x, false), parameters_), what);
  const Tensor given = losses(x);
  const int64_t before = calls;
  const Curvature actual = curvature(Batch(given, parameters_), what);
  EXPECT_EQ(calls, before);
  for (size_t p = 0; p < parameters_.size(); ++p) {
    expect_close(actual.parameters[p].diag_ggn, expected.parameters[p].diag_ggn, "GGN");
    expect_close(actual.parameters[p].diag_hessian, expected.parameters[p].diag_hessian, "Hessian");
  }
}

}  // namespace
}  // namespace flightdeck::tests

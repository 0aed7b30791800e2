// SPDX-License-Identifier: MIT
// Rules that a user adds for ops of their own: exact as autograd, fast by the coverage report, held
// against their nodes by check_rule.
#include <torch/csrc/autograd/functions/utils.h>

#include "check_model.h"
#include "errors.h"
#include "extending/custom_ops.h"
#include "flightdeck/check_rule.h"
#include "flightdeck/products.h"
#include "graph/torch_compat.h"

namespace flightdeck::tests {
namespace {

// Before main, as a user's file would do it.
const bool kAreRegistered = register_rule(std::make_unique<ProductRule>()) &&
                            register_rule(std::make_unique<ProductTransposedRule>()) &&
                            register_rule(std::make_unique<SquareScaleRule>()) &&
                            register_rule(std::make_unique<LookupRule>()) &&
                            register_rule(std::make_unique<NeighbourRule>());

constexpr int64_t kN = 5, kT = 3, kI = 4, kJ = 6;

class CustomRules : public SeededTest {};

std::string form_of(const Tensor& losses, const Parameters& parameters, size_t index) {
  const Coverage found = coverage(losses, parameters, Need::kNorms);
  return found.parameters[index].uses.at(0).form;
}

void expect_right(const std::string& rule, const Tensor& losses, const Parameters& parameters) {
  const RuleCheck check = check_rule(rule, losses, parameters);
  EXPECT_TRUE(check.is_right()) << check.text();
  EXPECT_FALSE(check.checked.empty());
}

TEST_F(CustomRules, GiveTheRowsOfAutogradAndAreExactFast) {
  ASSERT_TRUE(kAreRegistered);
  const Tensor w = random_parameter({kI, kJ});
  const Tensor v = random_parameter({kI, kJ});  // [J, I] of the second op
  const Tensor s = random_parameter({kI}), b = random_parameter({kI});
  const Tensor hidden = Product::apply(random({kN, kI}), w, 0.7).tanh();
  const Tensor back = ProductTransposed::apply(hidden, v);
  const Tensor losses = losses_of(SquareScale::apply(back, s, b));
  const Parameters parameters({{"w", w}, {"v", v}, {"s", s}, {"b", b}});
  check_model(losses, parameters);
  EXPECT_EQ(form_of(losses, parameters, 0), "outer");
  EXPECT_EQ(form_of(losses, parameters, 1), "outer");
  EXPECT_EQ(form_of(losses, parameters, 2), "scale");
  EXPECT_EQ(form_of(losses, parameters, 3), "sum");
  expect_right("user_product", losses, parameters);
  expect_right("user_product_transposed", losses, parameters);
  expect_right("user_square_scale", losses, parameters);
}

TEST_F(CustomRules, FollowTheSamplesWhereverTheySit) {
  const Tensor w = random_parameter({kI, kJ});
  const Parameters parameters({{"w", w}});
  const auto check = [&](const Tensor& outputs, int64_t dim) {
    const Tensor losses =
        losses_of(outputs.reshape({-1, kJ}).view(outputs.sizes()).movedim(dim, 0));
    check_model(losses, parameters);
    expect_right("user_product", losses, parameters);
  };
  check(Product::apply(random({kN, kT, kI}), w, 1.5), 0);
  check(Product::apply(random({kT, kN, kI}), w, 1.5), 1);
  check(Product::apply(random({kN * kT, kI}), w, 1.5).view({kN, kT, kJ}), 0);
  check(Product::apply(random({kT * kN, kI}), w, 1.5).view({kT, kN, kJ}), 1);
}

TEST_F(CustomRules, GatherLinesOfATable) {
  const Tensor table = random_parameter({9, kJ});
  const Parameters parameters({{"table", table}});
  const Tensor losses = losses_of(Lookup::apply(random_integers({kN, kT}, 9), table));
  check_model(losses, parameters);
  EXPECT_EQ(form_of(losses, parameters, 0), "gather");
  expect_right("user_lookup", losses, parameters);
}

TEST_F(CustomRules, SayThatAnOpMixesTheSamples) {
  const Tensor w = random_parameter({kI, kJ});
  const Tensor losses = losses_of(Neighbour::apply(random({kN, kI}).mm(w)));
  const Gradients answers = gradients(losses, std::vector<Tensor>{w}, Need::kIndividual);
  EXPECT_EQ(answers.coverage.couplings,
            std::vector<std::string>{CustomFunction<Neighbour>::node_name()});
  const Oracle oracle = differentiate(losses, std::vector<Tensor>{w});
  expect_close(answers.parameters[0].individual, oracle.individual[0], "rows");
}

// The same model with the op's rule and with PyTorch's ops.
TEST_F(CustomRules, GiveTheCurvatureOfTheOp) {
  const Tensor w = random_parameter({kI, kJ}), v = random_parameter({kJ, 2});
  const Tensor x = random({kN, kI});
  const Parameters parameters({{"w", w}, {"v", v}});
  const auto outputs = [&](bool is_custom) {
    const Tensor hidden = (is_custom ? Product::apply(x, w, 0.7) : 0.7 * x.mm(w)).tanh();
    return is_custom ? Product::apply(hidden, v, 2.0) : 2.0 * hidden.mm(v);
  };
  const auto losses = [&](bool is_custom) { return outputs(is_custom).square().sum(1); };
  for (const CurvatureKind kind : {CurvatureKind::kHessian, CurvatureKind::kGgn}) {
    const auto custom = curvature_operator(losses(true), parameters, kind);
    const auto plain = curvature_operator(losses(false), parameters, kind);
    const Tensor vectors = random({3, plain->dim()});
    expect_close(custom->multiply(vectors), plain->multiply(vectors), "products");
    EXPECT_TRUE(custom->remarks().empty()) << custom->remarks().front();
  }
}

TEST_F(CustomRules, LeaveTheCallersBackwardPassToTheBit) {
  const Tensor w = random_parameter({kI, kJ});
  const Parameters parameters({{"w", w}});
  const Tensor x = random({kN, kI});
  Product::apply(x, w, 0.7).square().sum(1).mean().backward();
  const std::vector<Tensor> expected = gradients_of(parameters);
  clear_gradients(parameters);

  // The graph is freed by this pass, as it would be without the watch.
  const Tensor losses = Product::apply(x, w, 0.7).square().sum(1);
  static_cast<void>(gradients(losses, parameters, Need::kNorms));
  Watch watch(losses, parameters, Need::kNorms);
  losses.mean().backward();
  const Gradients answers = watch.finish();
  EXPECT_TRUE(identical(gradients_of(parameters), expected));
  EXPECT_TRUE(answers.parameters[0].norms.defined());
  EXPECT_EQ(answers.coverage.parameters[0].level, CoverageLevel::kExactFast);
  EXPECT_ANY_THROW(losses.mean().backward());
}

TEST_F(CustomRules, AreNamedByTheirListsAndTheirErrors) {
  bool is_listed = false;
  for (const OpRule& rule : ops_with_rules()) is_listed |= rule.name == "user_product";
  EXPECT_TRUE(is_listed);
  expect_error([] { register_rule(std::make_unique<ProductRule>()); },
               {"register_rule", "user_product", "already", "Product", "another name"});
  struct SameNode : ProductRule {
    std::string name() const override { return "user_again"; }
  };
  expect_error([] { register_rule(std::make_unique<SameNode>()); },
               {"user_again", "CppNode", "user_product", "already"});
  struct OfTheCatalogue : ProductRule {
    std::string name() const override { return "user_linear"; }
    std::vector<std::string> nodes() const override { return {"AddmmBackward0"}; }
  };
  expect_error([] { register_rule(std::make_unique<OfTheCatalogue>()); },
               {"user_linear", "AddmmBackward0", "'linear'"});
  struct BadName : ProductRule {
    std::string name() const override { return "my rule"; }
  };
  expect_error([] { register_rule(std::make_unique<BadName>()); }, {"my rule", "underscores"});
  expect_error([] { register_rule(nullptr); }, {"null"});
}

// ---- an op without a rule, and rules that are wrong ---------------------------------------------

struct Unexplained : torch::autograd::Function<Unexplained> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x, const Tensor& w) {
    ctx->save_for_backward({x, w});
    return x.mm(w);
  }
  static variable_list backward(AutogradContext* ctx, variable_list gradients) {
    const variable_list saved = ctx->get_saved_variables();
    return {gradients[0].mm(saved[1].t()), saved[0].t().mm(gradients[0])};
  }
};

TEST_F(CustomRules, AreNotNeededForRightAnswers) {
  const Tensor w = random_parameter({kI, kJ}), v = random_parameter({kJ, kI});
  const Tensor hidden = Unexplained::apply(random({kN, kI}), w).tanh();
  const Tensor losses = losses_of(Unexplained::apply(hidden, v));
  const Parameters parameters({{"w", w}, {"v", v}});
  check_model(losses, parameters, Path::kExact);
  for (const ParameterCoverage& covered : coverage(losses, parameters, Need::kNorms).parameters) {
    EXPECT_EQ(covered.level, CoverageLevel::kExactSlow);
    expect_mentions(covered.reason, {"CppNode"});
  }
}

// y = x² w per entry, with a rule that can be told to lie.
enum class Lie { kNone, kRows, kShape, kSamples, kColumns, kTangent, kBend, kLinear, kLinearIn };
Lie lie = Lie::kNone;

struct Liar : torch::autograd::Function<Liar> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x, const Tensor& w) {
    ctx->save_for_backward({x, w});
    return x.square() * w;
  }
  static variable_list backward(AutogradContext* ctx, variable_list gradients) {
    const variable_list saved = ctx->get_saved_variables();
    return {2 * gradients[0] * saved[0] * saved[1],
            at::sum_to(gradients[0] * saved[0].square(), saved[1].sizes())};
  }
};

class LiarRule : public CustomRule {
 public:
  std::string name() const override { return "user_liar"; }
  std::vector<std::string> nodes() const override { return {CustomFunction<Liar>::node_name()}; }
  Layout input_layout(const OpNode&, size_t edge, const Layout& out) const override {
    if (lie == Lie::kSamples && edge == 0) return out.at_dim(1);
    return edge == 0 ? out : Layout::free();
  }
  RowFactors rows(const OpNode& node,
                  size_t,
                  const Tensor& gradient,
                  const Layout& out) const override {
    const Tensor x = CustomFunction<Liar>::saved(node)[0];
    const Tensor rows = samples_first(gradient * x.square(), out).reshape({out.N, -1});
    if (lie == Lie::kShape) return RowFactors::dense(rows.t());
    return RowFactors::dense(lie == Lie::kRows ? 2 * rows : rows);
  }
  Tensor columns(const OpNode& node, size_t edge, const Tensor& stack) const override {
    if (edge != 0) return {};
    const std::vector<Tensor> saved = CustomFunction<Liar>::saved(node);
    return (lie == Lie::kColumns ? 1 : 2) * stack * saved[0] * saved[1];
  }
  Tensor tangent(const OpNode& node, const std::vector<Tensor>& tangents) const override {
    if (tangents[1].defined()) return {};
    const std::vector<Tensor> saved = CustomFunction<Liar>::saved(node);
    return (lie == Lie::kTangent ? -2 : 2) * tangents[0] * saved[0] * saved[1];
  }
  bool bend(const OpNode&,
            const Tensor&,
            const std::vector<Tensor>&,
            const std::vector<bool>&,
            std::vector<Tensor>&) const override {
    return lie == Lie::kBend;
  }
  bool is_linear(const OpNode&) const override { return lie == Lie::kLinear; }
  bool is_linear_in(const OpNode&, size_t edge) const override {
    return edge == 1 || lie == Lie::kLinearIn;
  }
};

const bool kLiarIsRegistered = register_rule(std::make_unique<LiarRule>());

TEST_F(CustomRules, AreCaughtWhereTheyAreWrong) {
  ASSERT_TRUE(kLiarIsRegistered);
  const Tensor w = random_parameter({kN}), v = random_parameter({kN, kN});
  const Parameters parameters({{"w", w}, {"v", v}});
  const auto check = [&](Lie told) {
    lie = told;
    const Tensor losses = losses_of(Liar::apply(random({kN, kN}).mm(v), w));
    return check_rule("user_liar", losses, parameters);
  };
  const auto wrong = [&](Lie told) {
    std::vector<std::string> found;
    for (const RuleDifference& one : check(told).differences) found.push_back(one.what);
    return found;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(wrong(Lie::kNone), Names{});
  EXPECT_EQ(wrong(Lie::kRows), Names{"rows of input 1"});
  EXPECT_EQ(wrong(Lie::kSamples), Names{"samples of input 0"});
  EXPECT_EQ(wrong(Lie::kColumns), Names{"columns of input 0"});
  EXPECT_EQ(wrong(Lie::kTangent), Names{"tangent"});
  EXPECT_EQ(wrong(Lie::kBend), (Names{"bend of input 0", "bend of input 1"}));
  EXPECT_EQ(wrong(Lie::kLinear), (Names{"linearity of input 0", "linearity of input 1"}));
  EXPECT_EQ(wrong(Lie::kLinearIn), Names{"linearity in input 0"});
  const RuleCheck rows = check(Lie::kRows);
  EXPECT_NEAR(rows.differences[0].error, 1, 1e-12);
  expect_mentions(rows.text(), {"user_liar", "rows of input 1: WRONG", "as the node computes"});
  lie = Lie::kNone;
}

TEST_F(CustomRules, AreRefusedWhereTheirShapesCannotBe) {
  const Tensor w = random_parameter({3});
  const Tensor losses = losses_of(Liar::apply(random({kN, 3}), w));
  lie = Lie::kShape;
  expect_error([&] { return gradients(losses, std::vector<Tensor>{w}, Need::kNorms); },
               {"user_liar", "rows of input 1", "[3, 5]", "[5, 3]"});
  lie = Lie::kSamples;
  const Tensor v = random_parameter({3, 3});
  const Tensor deep = losses_of(Liar::apply(random({kN, 3}).mm(v), w));
  expect_error([&] { return gradients(deep, std::vector<Tensor>{v}, Need::kNorms); },
               {"user_liar", "dimension 1", "input 0", "[5, 3]"});
  lie = Lie::kNone;
}

TEST_F(CustomRules, AreCheckedOnlyWhereThereIsSomethingToCheck) {
  const Tensor w = random_parameter({kI, kJ});
  const Tensor losses = losses_of(random({kN, kI}).mm(w));
  const Parameters parameters({{"w", w}});
  expect_error([&] { (void)check_rule("user_prodcut", losses, parameters); },
               {"user_prodcut", "did you mean 'user_product'"});
  expect_error([&] { (void)check_rule("user_product", losses, parameters); },
               {"CppNode<", "MmBackward0", "computed with the op"});
  const Tensor one = losses_of(Product::apply(random({1, kI}), w, 1.0));
  expect_error([&] { (void)check_rule("user_product", one, parameters); },
               {"1 sample", "at least 2"});
  // The rules of the catalogue can be checked as well.
  expect_right("linear", losses, parameters);
}

// ---- a node class of the user's own, without torch::autograd::Function --------------------------

struct CubeBackward : torch::autograd::Node {
  torch::autograd::SavedVariable x;
  variable_list apply(variable_list&& gradients) override {
    return {3 * gradients[0] * x.unpack(compat::pointer_to(*this)).square()};
  }
  std::string name() const override { return "CubeBackward"; }
};

Tensor cube(const Tensor& x) {
  auto* node = new CubeBackward();
  const compat::NodePtr owner = compat::take_new(node);
  node->set_next_edges(torch::autograd::collect_next_edges(x));
  node->x = torch::autograd::SavedVariable(x, /*is_output=*/false);
  Tensor output = x.detach().pow(3);
  torch::autograd::set_history(output, owner);
  return output;
}

class CubeRule : public CustomRule {
 public:
  std::string name() const override { return "user_cube"; }
  std::vector<std::string> nodes() const override { return {"CubeBackward"}; }
  Layout input_layout(const OpNode&, size_t, const Layout& out) const override { return out; }
  Tensor columns(const OpNode& node, size_t, const Tensor& stack) const override {
    const auto& typed = dynamic_cast<const CubeBackward&>(*node.node());
    return 3 * stack * node.unpack(typed.x).square();
  }
  bool is_pointwise() const override { return true; }
};

TEST_F(CustomRules, ExplainNodesOfAnyClass) {
  register_rule(std::make_unique<CubeRule>());
  const Tensor w = random_parameter({kI, kJ});
  const Tensor losses = losses_of(cube(random({kN, kI}).mm(w)));
  check_model(losses, Parameters({{"w", w}}));
  expect_right("user_cube", losses, Parameters({{"w", w}}));
}

}  // namespace
}  // namespace flightdeck::tests

// SPDX-License-Identifier: MIT
// Every op that the catalogue of rules explains, against plain autograd: the rows of the parameters
// above and below it, and what its rule says of columns, tangents and bends against the node
// itself. A rule that no case reaches fails.
#include <deque>
#include <map>
#include <set>

#include "graph/apply_node.h"
#include "oracle.h"
#include "rules/op_cases.h"
#include "rules/rule.h"
#include "rules/stacks.h"

namespace flightdeck::tests {
namespace {

constexpr int64_t kSamplesOfCase = 3, kStack = 2;
constexpr double kRuleTolerance = 1e-9;

// Nodes that no case can make here, and why.
const std::map<std::string, std::string>& made_elsewhere() {
  static const std::map<std::string, std::string> reasons = {
      {"CudnnBatchNormBackward0", "needs a GPU"},
      {"FusedDropoutBackward0", "needs a GPU"},
      {"LiftBackward0", "is made by functionalisation alone"},
      {"LiftFreshBackward0", "is made by functionalisation alone"},
      {"MkldnnAdaptiveAvgPool2DBackward0", "needs tensors in the layout of oneDNN"},
      {"MkldnnMaxPool2DBackward0", "needs tensors in the layout of oneDNN"},
      {"MkldnnMaxPool3DBackward0", "needs tensors in the layout of oneDNN"},
      {"MkldnnReshapeBackward0", "needs tensors in the layout of oneDNN"},
      {"ScaledDotProductCudnnAttentionBackward0", "needs a GPU"},
      {"ScaledDotProductEfficientAttentionBackward0", "needs a GPU"},
      {"ScaledDotProductFlashAttentionBackward0", "needs a GPU"},
      {"ScaledDotProductFlashAttentionForCpuBackward0", "curvature_test, where LibTorch has it"},
  };
  return reasons;
}

Tensor within_bounds(at::IntArrayRef shape) { return random(shape).sigmoid() * 0.7 + 0.15; }

Tensor leaf(const Tensor& values) { return values.detach().clone().requires_grad_(true); }

// A case with the parameter p beside the op and the parameter w before it.
struct Model {
  Tensor w, p, outputs;

  explicit Model(const OpCase& op) {
    torch::manual_seed(5);
    std::vector<int64_t> batch = {kSamplesOfCase};
    batch.insert(batch.end(), op.sample.begin(), op.sample.end());
    // Products of these stay between 0.15 and 0.85.
    const Tensor inputs = random(batch).sigmoid() * 0.4 + 0.6;
    w = leaf(random(op.sample).sigmoid() * 0.5 + 0.3);
    p = leaf(within_bounds(op.parameter.empty() ? op.sample : op.parameter));
    outputs = op.op(inputs * w + op.shift, p);
  }
};

// Every node behind the tensor once.
std::vector<compat::ag::Node*> nodes_behind(const Tensor& tensor) {
  std::vector<compat::ag::Node*> found;
  std::set<compat::ag::Node*> seen;
  std::deque<compat::ag::Node*> todo = {tensor.grad_fn().get()};
  while (!todo.empty()) {
    compat::ag::Node* node = todo.front();
    todo.pop_front();
    if (!seen.insert(node).second) continue;
    found.push_back(node);
    for (const auto& edge : node->next_edges()) {
      if (edge.is_valid()) todo.push_back(edge.function.get());
    }
  }
  return found;
}

Tensor random_stack(const Shape& shape, const at::TensorOptions& options) {
  const Shape all = with_lead(kStack, shape);
  if (!c10::isComplexType(options.dtype().toScalarType())) return random(all).to(options.dtype());
  return at::complex(random(all), random(all)).to(options.dtype());
}

double tolerance_for(const Tensor& tensor) {
  const auto type = c10::toRealValueType(tensor.scalar_type());
  return type == at::kDouble ? kRuleTolerance : 1e-5;
}

void expect_same(const Tensor& actual, const Tensor& expected, const std::string& what) {
  ASSERT_EQ(actual.defined(), expected.defined()) << what;
  if (!actual.defined()) return;
  ASSERT_EQ(actual.sizes(), expected.sizes()) << what;
  const double scale = std::max(1e-6, expected.abs().max().item<double>());
  EXPECT_LE((actual - expected).abs().max().item<double>(), tolerance_for(expected) * scale)
      << what;
}

Tensor or_zeros(const Tensor& tensor, const Tensor& like) {
  return tensor.defined() ? tensor : at::zeros_like(like);
}

// What the rule says of one node, held against the node itself.
class RuleCheck {
 public:
  RuleCheck(const Rule& rule, compat::ag::Node* node)
      : rule_(rule), node_(node), view_(node), all_(view_.num_inputs()) {
    for (size_t e = 0; e < all_.size(); ++e) all_[e] = view_.has_input(e);
  }

  void run() {
    if (view_.num_outputs() != 1 || !rule_.fits(view_)) return;
    SCOPED_TRACE(view_.name());
    check_columns();
    check_tangent();
    check_bend();
  }

 private:
  void check_columns() {
    const Tensor stack = random_stack(view_.output_shape(), view_.output_options());
    for (size_t e = 0; e < all_.size(); ++e) {
      if (!all_[e]) continue;
      const Tensor columns = rule_.columns(view_, e, stack);
      if (!columns.defined()) continue;
      std::vector<bool> wanted(all_.size(), false);
      wanted[e] = true;
      for (int64_t k = 0; k < kStack; ++k) {
        expect_same(columns[k],
                    apply_node(node_, {stack[k]}, wanted)[e],
                    "columns of edge " + std::to_string(e));
      }
    }
  }

  // One input at a time, then all.
  void check_tangent() {
    const std::vector<Tensor> both = tangents();
    for (size_t e = 0; e <= all_.size(); ++e) {
      std::vector<Tensor> some(all_.size());
      for (size_t i = 0; i < some.size(); ++i) {
        if (i == e || e == all_.size()) some[i] = both[i];
      }
      if (stack_size(some) == 0) continue;
      const Tensor tangent = rule_.tangent(view_, some);
      if (!tangent.defined()) continue;
      expect_same(tangent, push_tangents(node_, some, {true})[0], "tangent");
    }
  }

  void check_bend() {
    const Tensor gradient = random_stack(view_.output_shape(), view_.output_options())[0];
    const std::vector<Tensor> along = tangents();
    std::vector<Tensor> bent(all_.size());
    const bool is_told = rule_.bend(view_, gradient, along, all_, bent);
    if (!is_told && !rule_.is_linear(view_)) return;
    const variable_list expected = bend_tangents(node_, {gradient}, along, all_);
    for (size_t e = 0; e < all_.size(); ++e) {
      if (!all_[e]) continue;
      expect_same(or_zeros(bent[e], along[e]),
                  or_zeros(expected[e], along[e]),
                  "bend of edge " + std::to_string(e));
    }
  }

  std::vector<Tensor> tangents() const {
    std::vector<Tensor> list(all_.size());
    for (size_t e = 0; e < list.size(); ++e) {
      if (all_[e]) list[e] = random_stack(view_.input_shape(e), view_.input_options(e));
    }
    return list;
  }

  const Rule& rule_;
  compat::ag::Node* node_;
  NodeView view_;
  std::vector<bool> all_;
};

class EveryOp : public testing::TestWithParam<OpCase> {};

TEST_P(EveryOp, GivesTheRowsOfAutograd) {
  const Model model(GetParam());
  const Tensor losses = losses_of(model.outputs.flatten(1));
  const Parameters parameters({{"w", model.w}, {"p", model.p}});
  const Oracle oracle = differentiate(losses, parameters);
  const Gradients answers = gradients(losses, parameters, Need::kIndividual);
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Tensor& rows = answers.parameters[i].individual;
    if (!rows.defined()) {
      EXPECT_EQ(oracle.individual[i].abs().max().item<double>(), 0) << parameters[i].name;
      continue;
    }
    const double scale = std::max(1e-6, oracle.individual[i].abs().max().item<double>());
    EXPECT_LE((rows - oracle.individual[i]).abs().max().item<double>(), 1e-6 * scale)
        << parameters[i].name;
  }
}

TEST_P(EveryOp, IsExplainedByItsRuleAsItsNodeComputes) {
  const Model model(GetParam());
  const compat::PassGuard guard;
  for (compat::ag::Node* node : nodes_behind(model.outputs)) {
    const Rule* rule = find_rule(node->name());
    if (rule) RuleCheck(*rule, node).run();
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, EveryOp, testing::ValuesIn(all_op_cases()), [](const auto& info) {
  return info.param.name;
});

TEST(RuleCatalogue, HasNoOpWithoutACase) {
  std::set<std::string> reached;
  for (const OpCase& op : all_op_cases()) {
    const Model model(op);  // keeps the nodes
    for (compat::ag::Node* node : nodes_behind(model.outputs)) reached.insert(node->name());
  }
  for (const CatalogueEntry& entry : rule_catalogue()) {
    for (const std::string_view view : entry.rule->nodes()) {
      const std::string name(view);
      EXPECT_TRUE(reached.count(name) || made_elsewhere().count(name))
          << name << " of the rule " << entry.name << " is in no case of tests/rules";
    }
  }
}

}  // namespace
}  // namespace flightdeck::tests

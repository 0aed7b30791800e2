// SPDX-License-Identifier: MIT
// Every op that the catalogue of rules explains, against plain autograd: the rows of the parameters
// above and below it, and what its rule says of samples, rows, columns, tangents and bends against
// the node itself. A rule that no case reaches fails.
#include <deque>
#include <map>
#include <set>

#include "oracle.h"
#include "passes/capture.h"
#include "passes/node_check.h"
#include "rules/op_cases.h"

namespace flightdeck::tests {
namespace {

constexpr int64_t kSamplesOfCase = 3;

// Nodes that no case can make here, and why. What this LibTorch has must be in a case.
const std::map<std::string, std::string>& made_elsewhere() {
  static const std::map<std::string, std::string> reasons = [] {
    std::map<std::string, std::string> all = {
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
        {"ScaledDotProductFlashAttentionForCpuBackward0",
         "attention_test.cpp, where LibTorch has it"},
    };
    const char* const of_2[] = {"ChannelShuffleBackward0",
                                "PreluKernelBackward0",
                                "SafeSoftmaxBackward0",
                                "SqueezeBackward4",
                                "SqueezeBackward5"};
    const char* const of_1[] = {"PreluBackward0",
                                "UpsampleBicubic2DBackward1",
                                "UpsampleBilinear2DBackward1",
                                "UpsampleLinear1DBackward1",
                                "UpsampleNearest1DBackward1",
                                "UpsampleNearest2DBackward1",
                                "UpsampleNearest3DBackward1",
                                "UpsampleTrilinear3DBackward1"};
    if (TORCH_VERSION_MAJOR >= 2) {
      for (const char* name : of_1) all.emplace(name, "LibTorch 1.13 alone has it");
    } else {
      for (const char* name : of_2) all.emplace(name, "LibTorch 2 alone has it");
    }
    return all;
  }();
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

class EveryOp : public testing::TestWithParam<OpCase> {};

TEST_P(EveryOp, GivesTheRowsOfAutograd) {
  const Model model(GetParam());
  const Tensor losses = losses_of(model.outputs.reshape({kSamplesOfCase, -1}));
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
  const Tensor losses = losses_of(model.outputs.reshape({kSamplesOfCase, -1}));
  const compat::PassGuard guard;
  const Capture capture = capture_graph(losses, Parameters({{"w", model.w}, {"p", model.p}}), {});
  RuleCheck check;
  for (size_t k = 0; k < capture.nodes.size(); ++k) {
    const CapturedNode& captured = capture.nodes[k];
    const Rule* rule = find_rule(captured.node->name());
    if (rule) check_node(*rule, captured.node, captured.layout, /*seed=*/k, check);
  }
  EXPECT_TRUE(check.is_right()) << check.text();
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

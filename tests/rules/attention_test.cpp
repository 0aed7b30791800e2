// SPDX-License-Identifier: MIT
// The rule of fused attention, whose nodes autograd cannot differentiate twice: columns against the
// node itself, tangents and bends against the same map written out.
#include "fused_attention.h"
#include "graph/apply_node.h"
#include "graph/torch_compat.h"
#include "oracle.h"
#include "rules/rule.h"

namespace flightdeck::tests {
namespace {

constexpr int64_t kBatch = 3, kQueryHeads = 4, kQueries = 5, kKeys = 6, kWidth = 8, kStack = 2;

class FusedAttentionRule : public SeededTest, public ::testing::WithParamInterface<AttentionCase> {
 protected:
  void SetUp() override {
    SeededTest::SetUp();
    if (!can_make(GetParam())) GTEST_SKIP() << "this LibTorch has no such attention";
    const int64_t keys = GetParam().key_heads != 0 ? GetParam().key_heads : kQueryHeads;
    const int64_t length = GetParam().is_causal ? kQueries : kKeys;
    inputs_ = {leaf({kBatch, kQueryHeads, kQueries, kWidth}),
               leaf({kBatch, keys, length, kWidth}),
               leaf({kBatch, keys, length, kWidth})};
    output_ = fused_attention(inputs_[0], inputs_[1], inputs_[2], GetParam());
    node_ = output_.grad_fn().get();
    rule_ = find_rule(node_->name());
    compat::FusedAttention fused;
    is_fused_ = compat::read_attention(*node_, fused);
    if (!is_fused_) GTEST_SKIP() << "this LibTorch computes it by " << node_->name();
    ASSERT_NE(rule_, nullptr) << node_->name();
  }

  // Kernels of GPUs take no doubles.
  static bool is_double() { return test_device().is_cpu(); }
  static Tensor draw(std::vector<int64_t> shape) {
    return is_double() ? random(shape) : random(shape).to(at::kFloat);
  }
  static Tensor leaf(std::vector<int64_t> shape) { return draw(std::move(shape)).requires_grad_(); }

  std::vector<Tensor> tangents() const {
    std::vector<Tensor> list(node_->next_edges().size());
    for (size_t e = 0; e < inputs_.size(); ++e) {
      std::vector<int64_t> shape = inputs_[e].sizes().vec();
      shape.insert(shape.begin(), kStack);
      list[e] = draw(shape);
    }
    return list;
  }

  static void expect_same(const Tensor& actual, const Tensor& expected, const std::string& what) {
    ASSERT_TRUE(actual.defined()) << what;
    ASSERT_TRUE(actual.sizes().equals(expected.sizes())) << what;
    const double scale = std::max(1e-6, number(expected.abs().max()));
    EXPECT_LE(number((actual - expected).abs().max()) / scale, is_double() ? 1e-11 : 1e-4) << what;
  }

  std::vector<Tensor> inputs_;
  Tensor output_;
  compat::ag::Node* node_ = nullptr;
  const Rule* rule_ = nullptr;
  bool is_fused_ = false;
};

TEST_P(FusedAttentionRule, PullsColumnsAsItsNodeDoes) {
  const compat::PassGuard guard;
  Shape shape = output_.sizes().vec();
  shape.insert(shape.begin(), kStack);
  const Tensor stack = draw(shape);
  for (size_t e = 0; e < inputs_.size(); ++e) {
    std::vector<bool> wanted(node_->next_edges().size(), false);
    wanted[e] = true;
    std::vector<Tensor> expected;
    for (const Tensor& gradient : stack.unbind(0)) {
      variable_list gradients(node_->num_inputs());
      gradients[0] = gradient.contiguous();
      expected.push_back(apply_node(node_, gradients, wanted)[e]);
    }
    expect_same(rule_->columns(NodeView(node_), e, stack),
                at::stack(expected),
                "input " + std::to_string(e));
  }
}

// Of the map written out, by autograd: the derivative of its gradients along tangents.
TEST_P(FusedAttentionRule, MovesAndBendsAsTheMapWrittenOut) {
  const Tensor seed = draw(output_.sizes().vec()).requires_grad_();
  const Tensor plain = written_out(inputs_[0], inputs_[1], inputs_[2], GetParam());
  expect_same(output_.detach(), plain.detach(), "output");
  const auto pulled = torch::autograd::grad({plain}, inputs_, {seed}, true, true);
  const std::vector<Tensor> all = tangents();
  // One input at a time, then all.
  for (size_t moving = 0; moving <= inputs_.size(); ++moving) {
    std::vector<Tensor> some(all.size());
    for (size_t e = 0; e < inputs_.size(); ++e) {
      if (e == moving || moving == inputs_.size()) some[e] = all[e];
    }
    std::vector<bool> wanted(all.size(), false);
    for (size_t e = 0; e < inputs_.size(); ++e) wanted[e] = true;
    std::vector<Tensor> bent(all.size());
    Tensor moved;
    {
      const compat::PassGuard guard;
      moved = rule_->tangent(NodeView(node_), some);
      ASSERT_TRUE(rule_->bend(NodeView(node_), seed.detach(), some, wanted, bent));
    }
    for (int64_t v = 0; v < kStack; ++v) {
      std::vector<Tensor> roots, along;
      for (size_t e = 0; e < inputs_.size(); ++e) {
        if (!some[e].defined()) continue;
        roots.push_back(pulled[e]);
        along.push_back(some[e].select(0, v));
      }
      std::vector<Tensor> behind = inputs_;
      behind.push_back(seed);
      const auto expected = torch::autograd::grad(roots, behind, along, true, false, true);
      const std::string what = "moving " + std::to_string(moving) + ", input ";
      expect_same(moved.select(0, v), expected.back(), what + "none: tangent");
      for (size_t e = 0; e < inputs_.size(); ++e) {
        const Tensor zeros = at::zeros_like(inputs_[e]).detach();
        expect_same(bent[e].defined() ? bent[e].select(0, v) : zeros,
                    expected[e].defined() ? expected[e] : zeros,
                    what + std::to_string(e));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cases,
                         FusedAttentionRule,
                         ::testing::ValuesIn(attention_cases()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace flightdeck::tests

// SPDX-License-Identifier: MIT
// Fused attention, which autograd cannot differentiate twice, against the same model with the
// attention written out.
#include <cmath>

#include <ATen/core/dispatch/Dispatcher.h>

#include "curvature/dense_oracle.h"
#include "curvature/models.h"
#include "oracle.h"

namespace flightdeck::tests {
namespace {

constexpr int64_t kAttentionSamples = 3, T = 4, kHeads = 2, kFeatures = 3;

// The op by its name: its arguments differ between versions, and old ones do not have it.
c10::optional<c10::OperatorHandle> find_fused() {
  return c10::Dispatcher::singleton().findSchema({"aten::scaled_dot_product_attention", ""});
}

Tensor fused_attention(const Tensor& q, const Tensor& k, const Tensor& v, bool is_causal) {
  const auto op = *find_fused();
  torch::jit::Stack stack{q, k, v};
  for (size_t i = 3; i < op.schema().arguments().size(); ++i) {
    const auto& argument = op.schema().arguments()[i];
    stack.push_back(argument.name() == "is_causal"
                        ? c10::IValue(is_causal)
                        : argument.default_value().value_or(c10::IValue()));
  }
  op.callBoxed(stack);
  return stack[0].toTensor();
}

Tensor written_out(const Tensor& q, const Tensor& k, const Tensor& v, bool is_causal) {
  Tensor scores = q.matmul(k.transpose(-2, -1)) / std::sqrt(static_cast<double>(kFeatures));
  if (is_causal) {
    const Tensor blocked = at::ones({T, T}, scores.options().dtype(at::kBool)).triu(1);
    scores = scores.masked_fill(blocked, -INFINITY);
  }
  return scores.softmax(-1).matmul(v);
}

class FusedAttention : public SeededTest, public ::testing::WithParamInterface<bool> {
 protected:
  void SetUp() override {
    SeededTest::SetUp();
    if (!find_fused()) GTEST_SKIP() << "this LibTorch has no fused attention";
    inputs_ = random({kAttentionSamples, T, 4});
    labels_ = random_integers({kAttentionSamples}, 2);
    for (int64_t k = 0; k < 3; ++k) {
      weights_.push_back(random_parameter({4, kHeads * kFeatures}));
    }
    weights_.push_back(random_parameter({kHeads * kFeatures, 2}));
  }

  template <typename Attention>
  Tensor losses(const Attention& attention) const {
    std::vector<Tensor> parts;
    for (size_t k = 0; k < 3; ++k) {
      parts.push_back(inputs_.matmul(weights_[k])
                          .view({kAttentionSamples, T, kHeads, kFeatures})
                          .transpose(1, 2));
    }
    const Tensor mixed = attention(parts[0], parts[1], parts[2], GetParam());
    const Tensor pooled = mixed.transpose(1, 2).reshape({kAttentionSamples, T, -1}).tanh().mean(1);
    return cross_entropies(pooled.matmul(weights_[3]), labels_);
  }

  Tensor inputs_, labels_;
  std::vector<Tensor> weights_;
};

TEST_P(FusedAttention, HasTheCurvatureOfTheAttentionWrittenOut) {
  const Tensor fused = losses(&fused_attention), plain = losses(&written_out);
  expect_close(fused.detach(), plain.detach(), "losses", kCurvatureTolerance);
  for (CurvatureKind kind :
       {CurvatureKind::kHessian, CurvatureKind::kGgn, CurvatureKind::kEmpiricalFisher}) {
    const auto actual = curvature_operator(fused, weights_, kind);
    const auto expected = curvature_operator(plain, weights_, kind);
    const Tensor vectors = random({3, actual->dim()});
    expect_close(actual->multiply(vectors),
                 expected->multiply(vectors),
                 "product " + std::to_string(static_cast<int>(kind)),
                 kCurvatureTolerance);
  }
  const CurvatureNeeds what = CurvatureNeed::kDiagGgn | CurvatureNeed::kDiagHessian;
  const Curvature actual = curvature(fused, weights_, what);
  const Curvature expected = curvature(plain, weights_, what);
  for (auto field : {&ParameterCurvature::diag_ggn, &ParameterCurvature::diag_hessian}) {
    expect_close(
        actual.concatenated(field), expected.concatenated(field), "diagonal", kCurvatureTolerance);
  }
}

INSTANTIATE_TEST_SUITE_P(Masks, FusedAttention, ::testing::Bool());

}  // namespace
}  // namespace flightdeck::tests

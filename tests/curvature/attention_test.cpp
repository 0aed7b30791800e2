// SPDX-License-Identifier: MIT
// Fused attention, which autograd cannot differentiate twice, against the same model with the
// attention written out.
#include "curvature/dense_oracle.h"
#include "curvature/models.h"
#include "fused_attention.h"
#include "oracle.h"

namespace flightdeck::tests {
namespace {

constexpr int64_t kAttentionSamples = 3, T = 4, kHeads = 4, kFeatures = 3;

class FusedAttention : public SeededTest, public ::testing::WithParamInterface<AttentionCase> {
 protected:
  void SetUp() override {
    SeededTest::SetUp();
    if (!can_make(GetParam())) GTEST_SKIP() << "this LibTorch has no such attention";
    inputs_ = random({kAttentionSamples, T, 4});
    labels_ = random_integers({kAttentionSamples}, 2);
    for (size_t k = 0; k < 3; ++k) {
      weights_.push_back(random_parameter({4, heads(k) * kFeatures}));
    }
    weights_.push_back(random_parameter({kHeads * kFeatures, 2}));
  }

  // Of queries, keys and values.
  static int64_t heads(size_t k) {
    return k > 0 && GetParam().key_heads != 0 ? GetParam().key_heads : kHeads;
  }

  template <typename Attention>
  Tensor losses(const Attention& attention) const {
    std::vector<Tensor> parts;
    for (size_t k = 0; k < 3; ++k) {
      parts.push_back(inputs_.matmul(weights_[k])
                          .view({kAttentionSamples, T, heads(k), kFeatures})
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

INSTANTIATE_TEST_SUITE_P(Cases,
                         FusedAttention,
                         ::testing::ValuesIn(attention_cases()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace flightdeck::tests

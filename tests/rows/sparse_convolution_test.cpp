// SPDX-License-Identifier: MIT
// Sparse columns at convolutions of many geometries, against LibTorch's own products in double.
#include "rows/sparse_convolution.h"

#include <string>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "kernels/sparse_columns/sparse_columns.h"

namespace flightdeck {
namespace {

struct Layer {
  std::string name;
  Shape input, weight;  // [N, C, *space], [J, C, *kernel]
  ConvolutionGeometry geometry;
};

std::vector<Layer> layers() {
  return {
      {"one_dimension", {3, 16, 30}, {5, 16, 4}, {{1}, {2}, {1}}},
      {"two_dimensions", {3, 16, 12, 13}, {8, 16, 5, 5}, {{1, 1}, {2, 2}, {1, 1}}},
      {"without_padding", {2, 32, 9, 9}, {6, 32, 3, 3}, {{1, 1}, {0, 0}, {1, 1}}},
      {"strided", {2, 16, 13, 11}, {7, 16, 3, 2}, {{2, 3}, {1, 0}, {1, 1}}},
      {"dilated", {2, 16, 14, 14}, {4, 16, 3, 3}, {{1, 1}, {2, 1}, {2, 2}}},
      {"dilated_and_strided", {2, 16, 15, 14}, {4, 16, 2, 3}, {{2, 1}, {0, 3}, {3, 1}}},
      {"three_dimensions", {2, 16, 5, 6, 7}, {3, 16, 2, 3, 2}, {{1, 2, 1}, {1, 0, 1}, {1, 1, 1}}}};
}

constexpr int64_t kColumns = 9;

class SparseConvolutionTest : public ::testing::TestWithParam<Layer> {
 protected:
  void SetUp() override {
    if (kernels::sparse_columns_lanes(/*is_double=*/true) == 1) {
      GTEST_SKIP() << "the plain loops gain nothing, and are not used";
    }
    torch::manual_seed(3);
    const Layer& layer = GetParam();
    input_ = torch::randn(layer.input, torch::kDouble);
    weight_ = torch::randn(layer.weight, torch::kDouble);
    const Tensor output = convolve(input_);
    Shape sizes = output.sizes().vec();
    const Tensor is_there = torch::rand(sizes, torch::kDouble) < 0.2;  // the same in all columns
    sizes.insert(sizes.begin(), kColumns);
    stack_ = torch::randn(sizes, torch::kDouble).mul(is_there);
  }

  Tensor convolve(const Tensor& input) const { return convolve(input, weight_); }
  Tensor convolve(const Tensor& input, const Tensor& weight) const {
    const ConvolutionGeometry& geometry = GetParam().geometry;
    return at::convolution(input,
                           weight,
                           {},
                           geometry.stride,
                           geometry.padding,
                           geometry.dilation,
                           /*transposed=*/false,
                           Shape(geometry.stride.size(), 0),
                           /*groups=*/1);
  }

  Tensor input_, weight_, stack_;
};

TEST_P(SparseConvolutionTest, SquaresAreThoseOfTheGradientsOfEachSample) {
  const Tensor squares =
      sparse_squares(input_, stack_.unbind(0), GetParam().weight, GetParam().geometry);
  ASSERT_TRUE(squares.defined());
  Tensor expected = torch::zeros_like(weight_);
  for (int64_t n = 0; n < input_.size(0); ++n) {
    const Tensor weight = weight_.clone().requires_grad_();
    const Tensor output = convolve(input_.slice(0, n, n + 1), weight);
    for (const Tensor& column : stack_.unbind(0)) {
      const Tensor gradient =
          torch::autograd::grad({output}, {weight}, {column.slice(0, n, n + 1)}, true)[0];
      expected += gradient.square();
    }
  }
  EXPECT_TRUE(torch::allclose(squares, expected, 1e-11, 1e-11));
}

TEST_P(SparseConvolutionTest, ColumnsGoBackAsAutogradSendsThem) {
  const Tensor sent = sparse_inputs(stack_, weight_, GetParam().input, GetParam().geometry);
  ASSERT_TRUE(sent.defined());
  const Tensor input = input_.clone().requires_grad_();
  const Tensor output = convolve(input);
  for (int64_t k = 0; k < kColumns; ++k) {
    const Tensor expected = torch::autograd::grad({output}, {input}, {stack_[k]}, true)[0];
    EXPECT_TRUE(torch::allclose(sent[k], expected, 1e-11, 1e-11)) << "column " << k;
  }
}

TEST_P(SparseConvolutionTest, FloatsAgreeWithDoublesToRounding) {
  const Tensor squares = sparse_squares(input_.to(torch::kFloat),
                                        stack_.to(torch::kFloat).unbind(0),
                                        GetParam().weight,
                                        GetParam().geometry);
  if (squares.defined()) {
    const Tensor exact =
        sparse_squares(input_, stack_.unbind(0), GetParam().weight, GetParam().geometry);
    EXPECT_TRUE(torch::allclose(squares.to(torch::kDouble), exact, 1e-4, 1e-4));
  }
  const Tensor sent = sparse_inputs(
      stack_.to(torch::kFloat), weight_.to(torch::kFloat), GetParam().input, GetParam().geometry);
  ASSERT_TRUE(sent.defined());
  const Tensor exact = sparse_inputs(stack_, weight_, GetParam().input, GetParam().geometry);
  EXPECT_TRUE(torch::allclose(sent.to(torch::kDouble), exact, 1e-4, 1e-4));
}

TEST_P(SparseConvolutionTest, DenseColumnsAreLeftToDenseProducts) {
  const Tensor dense = torch::randn(stack_.sizes(), torch::kDouble);
  EXPECT_FALSE(
      sparse_squares(input_, dense.unbind(0), GetParam().weight, GetParam().geometry).defined());
  EXPECT_FALSE(sparse_inputs(dense, weight_, GetParam().input, GetParam().geometry).defined());
}

TEST_P(SparseConvolutionTest, ZerosAreMultipliedBesideInfinity) {
  input_.view({-1})[0] = std::numeric_limits<double>::infinity();
  weight_.view({-1})[0] = std::numeric_limits<double>::infinity();
  EXPECT_FALSE(
      sparse_squares(input_, stack_.unbind(0), GetParam().weight, GetParam().geometry).defined());
  EXPECT_FALSE(sparse_inputs(stack_, weight_, GetParam().input, GetParam().geometry).defined());
}

INSTANTIATE_TEST_SUITE_P(Layers,
                         SparseConvolutionTest,
                         ::testing::ValuesIn(layers()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace flightdeck

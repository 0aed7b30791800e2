// SPDX-License-Identifier: MIT
// Rows of convolutions in any number of spatial dimensions, strided, padded, dilated, grouped.
#pragma once

#include "rows/form.h"

namespace flightdeck {

struct ConvolutionGeometry {
  Shape stride;
  Shape padding;
  Shape dilation;
  int64_t groups = 1;
  bool is_transposed = false;  // input and gradient have changed places
};

// The row g_n is the weight gradient of sample n; its shape is the weight's [J, C/groups, *kernel].
//
// A transposed convolution is the same with the roles of input and output gradient exchanged: its
// weight gradient correlates the output gradient's patches with the input.
class ConvolutionForm final : public Form {
 public:
  // Takes input [N, C, *space], gradient [N, J, *output space], or [K * N, ...] for K columns that
  // share the input; there are then K * N rows.
  ConvolutionForm(Tensor input, Tensor gradient, Shape weight_shape, ConvolutionGeometry geometry);

  const char* name() const override { return "convolution"; }
  int64_t N() const override { return gradient_.size(0); }
  const Shape& shape() const override { return shape_; }
  at::TensorOptions options() const override { return input_.options(); }
  using Form::answer;
  Answers answer(const Asked& asked, const Questions& questions) const override;
  Tensor combine(const Tensor& coefficients) const override;
  Tensor dense(int64_t begin, int64_t end) const override;
  // A product with the factors costs a convolution, with rows that are written out one look at
  // them.
  bool is_cheaper_written() const override { return true; }
  std::shared_ptr<const Form> select(const Tensor& index) const override;
  std::vector<Tensor> factors() const override { return {input_, gradient_}; }
  std::shared_ptr<const Form> with_factors(std::vector<Tensor> factors) const override;
  std::shared_ptr<const Form> followed_by(const FormList& others) const override;
  Tensor squares_with(const FormList& others, double share, bool is_for_trace) const override;
  Tensor position_inputs() const override;
  Tensor position_gradients() const override;
  bool is_flipped() const override { return true; }

 private:
  int64_t K() const { return gradient_.size(0) / input_.size(0); }
  Tensor inputs_of(int64_t begin, int64_t end) const;
  Answers answer_by_forming(const Asked& asked, const Questions& questions) const;
  Answers answer_group(const Asked& asked,
                       const Questions& questions,
                       const Tensor& padded,
                       int64_t group) const;
  Answers answer_many_groups(const Asked& asked, const Questions& questions) const;
  Tensor norms_by_gram(int64_t scratch_bytes) const;
  Tensor dots(const Tensor& directions) const;
  Tensor sum_weighted(const Tensor& columns) const;
  Tensor padded(const Tensor& input) const;
  Tensor patches(const Tensor& padded, int64_t first_channel, int64_t channels) const;
  Tensor gradient_of(int64_t group) const;

  class FactoredPositions;

  Tensor input_;
  Tensor gradient_;
  Shape shape_;
  ConvolutionGeometry geometry_;
};

}  // namespace flightdeck

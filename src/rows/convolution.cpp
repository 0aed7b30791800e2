// SPDX-License-Identifier: MIT
#include "rows/convolution.h"

#include <algorithm>
#include <vector>

#include <ATen/ATen.h>

#include "rows/dense.h"
#include "rows/instances.h"
#include "rows/outer.h"
#include "rows/sparse_convolution.h"

namespace flightdeck {
namespace {

// Many small groups (depthwise) go through one batched product; few large ones one at a time.
constexpr int64_t kMaxGroupsOneByOne = 4;

// Returns the sizes [K * N, ...] as [K, N, ...]. The first of `sizes` is not read.
Shape with_columns(at::IntArrayRef sizes, int64_t K) {
  Shape split{K, -1};
  split.insert(split.end(), sizes.begin() + 1, sizes.end());
  return split;
}

}  // namespace

ConvolutionForm::ConvolutionForm(Tensor input,
                                 Tensor gradient,
                                 Shape weight_shape,
                                 ConvolutionGeometry geometry)
    : input_(in_row_precision(input).contiguous()),
      gradient_(in_row_precision(gradient).contiguous()),
      shape_(std::move(weight_shape)),
      geometry_(std::move(geometry)) {
  const auto expand = [this](Shape& values) {
    if (values.size() == 1) values.assign(shape_.size() - 2, values[0]);
  };
  expand(geometry_.stride);
  expand(geometry_.padding);
  expand(geometry_.dilation);
}

Tensor ConvolutionForm::padded(const Tensor& input) const {
  Shape pad;
  for (auto side = geometry_.padding.rbegin(); side != geometry_.padding.rend(); ++side) {
    pad.insert(pad.end(), {*side, *side});
  }
  const bool is_padded = std::any_of(pad.begin(), pad.end(), [](int64_t p) { return p != 0; });
  return is_padded ? at::constant_pad_nd(input, pad) : input;
}

Tensor ConvolutionForm::patches(const Tensor& padded,
                                int64_t first_channel,
                                int64_t channels) const {
  // The patches are a view [N, channels, *kernel, *output space] of the padded input.
  const Tensor block = padded.slice(1, first_channel, first_channel + channels);
  Shape sizes{padded.size(0), channels}, strides{block.stride(0), block.stride(1)};
  for (size_t k = 2; k < shape_.size(); ++k) {
    sizes.push_back(shape_[k]);
    strides.push_back(block.stride(k) * geometry_.dilation[k - 2]);
  }
  for (size_t k = 2; k < shape_.size(); ++k) {
    sizes.push_back(gradient_.size(k));
    strides.push_back(block.stride(k) * geometry_.stride[k - 2]);
  }
  return block.as_strided(sizes, strides, block.storage_offset());
}

// Returns the output gradients of one group, [N, T, J / groups].
Tensor ConvolutionForm::gradient_of(int64_t group) const {
  const int64_t J = shape_[0] / geometry_.groups;
  return gradient_.slice(1, group * J, (group + 1) * J).flatten(2).transpose(1, 2);
}

// Tells what a convolution answers without forming its rows, all groups at once.
class ConvolutionForm::FactoredPositions final : public Positions {
 public:
  explicit FactoredPositions(const ConvolutionForm& form) : form_(form) {
    const int64_t groups = form.geometry_.groups;
    N = form.N();
    T = product(form.gradient_.sizes().slice(2).vec());
    I = product(form.shape_) / form.shape_[0];
    J = form.shape_[0];
    form_flops = sum_flops();
    if (form.K() == 1 && groups <= kMaxGroupsOneByOne) {
      norms_flops = gram_norm_flops(N, T, I * groups, J, form.input_.is_cpu());
    }
  }

  Tensor sum() const override { return form_.sum_weighted(form_.gradient_); }
  Tensor dots(const Tensor& directions) const override { return form_.dots(directions); }
  Tensor norms(int64_t scratch_bytes) const override { return form_.norms_by_gram(scratch_bytes); }

 private:
  const ConvolutionForm& form_;
};

Answers ConvolutionForm::answer(const Asked& asked, const Questions& questions) const {
  Answers answers =
      answer_positions(FactoredPositions(*this), asked, questions, [&](const Asked& formed) {
        return geometry_.groups > kMaxGroupsOneByOne ? answer_many_groups(formed, questions)
                                                     : answer_by_forming(formed, questions);
      });
  if (answers.algorithm.empty()) answers.algorithm = "one convolution";
  return answers;
}

Answers ConvolutionForm::answer_by_forming(const Asked& asked, const Questions& questions) const {
  const Tensor input = padded(input_);
  Answers answers = answer_group(asked, questions, input, 0);
  for (int64_t group = 1; group < geometry_.groups; ++group) {
    const Answers part = answer_group(asked, questions, input, group);
    for (const Answer* answer : asked) {
      Values total = answer->get(answers);
      const Values more = answer->get(part);
      const Extent extent = answer->kind().extent;
      if (extent == Extent::kEntries || extent == Extent::kRows) {
        total = {at::cat({total[0], more[0]}, extent == Extent::kRows ? 1 : 0)};
      } else {
        answer->add(total, more);
      }
      answer->put(answers, std::move(total));
    }
  }
  return answers;
}

Answers ConvolutionForm::answer_group(const Asked& asked,
                                      const Questions& questions,
                                      const Tensor& padded,
                                      int64_t group) const {
  const int64_t J = shape_[0] / geometry_.groups, C = shape_[1];
  Instances instances;
  instances.a = patches(padded, group * C, C);
  instances.i_dims = static_cast<int64_t>(shape_.size()) - 1;
  instances.b = gradient_of(group);
  // These move entries of the weight [J, C, *kernel] to [C, *kernel, J], and back.
  const auto as_instances = [&](const Tensor& weight, int64_t lead) {
    return weight.slice(lead, group * J, (group + 1) * J).movedim(lead, -1);
  };
  const auto as_weight = [](const Tensor& matrix, int64_t lead) {
    return matrix.movedim(-1, lead);
  };
  Sweep sweep(asked, moved(questions, as_instances), instances.size());
  Answers answers;
  answers.algorithm = sweep_instances(instances, questions.scratch_bytes, sweep);
  Shape entries = instances.i_sizes();
  entries.push_back(J);
  sweep.finish(entries, answers);
  move_entries(asked, as_weight, answers);
  return answers;
}

// Computes ||A_nᵀ B_n||² over pairs of positions, a group at a time.
Tensor ConvolutionForm::norms_by_gram(int64_t scratch_bytes) const {
  const Tensor input = padded(input_);
  const int64_t I = product(shape_) / shape_[0];
  Tensor total;
  for (int64_t group = 0; group < geometry_.groups; ++group) {
    const Tensor views = patches(input, group * shape_[1], shape_[1]);
    const Tensor gradient = gradient_of(group);
    const int64_t T = gradient.size(1);
    const int64_t piece = rows_per_piece({I + 2 * T, T}, options(), scratch_bytes);
    std::vector<Tensor> norms;
    for (int64_t begin = 0; begin < N(); begin += piece) {
      const Tensor a = views.slice(0, begin, begin + piece);
      norms.push_back(flightdeck::norms_by_gram(a.reshape({a.size(0), I, T}).transpose(1, 2),
                                                gradient.slice(0, begin, begin + piece),
                                                scratch_bytes));
    }
    const Tensor of_group = at::cat(norms);
    total = total.defined() ? at::hypot(total, of_group) : of_group;
  }
  return total;
}

Answers ConvolutionForm::answer_many_groups(const Asked& asked, const Questions& questions) const {
  // The patches of a piece are copied: a kernel's size times its input.
  const int64_t patch_entries = product(shape_) / shape_[0] * geometry_.groups;
  const int64_t positions = product(gradient_.sizes().slice(2).vec());
  const int64_t piece =
      rows_per_piece({patch_entries, positions}, options(), questions.scratch_bytes);
  std::vector<Tensor> pieces;
  for (int64_t begin = 0; begin < N(); begin += piece) {
    pieces.push_back(dense(begin, std::min(begin + piece, N())));
  }
  const DenseForm rows(pieces.size() == 1 ? pieces[0] : at::cat(pieces), "dense");
  Answers answers = rows.answer(asked, questions);
  answers.algorithm = "rows of many groups by batched products";
  return answers;
}

Tensor ConvolutionForm::dense(int64_t begin, int64_t end) const {
  const auto count = end - begin;
  const int64_t groups = geometry_.groups;
  const Tensor input = padded(inputs_of(begin, end));
  const Tensor all = patches(input, 0, input.size(1));
  const Tensor a = all.reshape({count * groups, product(shape_) / shape_[0], -1});
  const Tensor b = gradient_.slice(0, begin, end).reshape({count * groups, shape_[0] / groups, -1});
  Shape sizes{count};
  sizes.insert(sizes.end(), shape_.begin(), shape_.end());
  return at::bmm(b, a.transpose(1, 2)).view(sizes);
}

Tensor ConvolutionForm::dots(const Tensor& directions) const {
  // Since <g_n, V> = <conv(input_n, V), gradient_n>, one convolution per direction does it without
  // rows.
  std::vector<Tensor> columns;
  for (const Tensor& direction : directions.unbind(0)) {
    Tensor mapped = at::convolution(input_,
                                    direction,
                                    {},
                                    geometry_.stride,
                                    geometry_.padding,
                                    geometry_.dilation,
                                    /*transposed=*/false, /*output_padding=*/
                                    Shape(geometry_.stride.size(), 0),
                                    geometry_.groups);
    // A strided convolution may have been fed more input than its last patch covers; a transposed
    // one with output padding has less gradient than conv(input) gives.
    for (int64_t dim = 2; dim < mapped.dim(); ++dim) {
      mapped = mapped.slice(dim, 0, gradient_.size(dim));
    }
    Shape sizes = with_columns(mapped.sizes(), K());
    columns.push_back(gradient_.view(sizes).mul(mapped).flatten(2).sum(2).view({-1}));
  }
  return at::stack(columns, 1);
}

Tensor ConvolutionForm::sum_weighted(const Tensor& columns) const {
  const Tensor gradient =
      K() == 1 ? columns : columns.view(with_columns(columns.sizes(), K())).sum(0);
  // A transposed convolution with output padding has fewer positions than its padded output
  // gradient allows; PyTorch's weight gradient wants both to match, so cut what no patch touches.
  const Shape no_padding(geometry_.stride.size(), 0);
  Tensor input = input_;
  Shape padding = geometry_.padding;
  bool matches = true;
  for (size_t k = 0; k < no_padding.size(); ++k) {
    const int64_t covered = (shape_[2 + k] - 1) * geometry_.dilation[k] + 1;
    const int64_t padded_size = input_.size(2 + k) + 2 * padding[k];
    matches &= (padded_size - covered) / geometry_.stride[k] + 1 == gradient.size(2 + k);
  }
  if (!matches) {
    input = padded(input_);
    padding = no_padding;
    for (size_t k = 0; k < no_padding.size(); ++k) {
      const int64_t used = (gradient.size(2 + k) - 1) * geometry_.stride[k] +
                           (shape_[2 + k] - 1) * geometry_.dilation[k] + 1;
      input = input.slice(2 + k, 0, used);
    }
  }
  return std::get<1>(at::convolution_backward(gradient,
                                              input,
                                              at::empty(shape_, options()),
                                              c10::nullopt,
                                              geometry_.stride,
                                              padding,
                                              geometry_.dilation,
                                              /*transposed=*/false,
                                              no_padding,
                                              geometry_.groups,
                                              {false, true, false}));
}

Tensor ConvolutionForm::combine(const Tensor& coefficients) const {
  std::vector<Tensor> combined;
  for (const Tensor& c : coefficients.to(gradient_.scalar_type()).unbind(0)) {
    Shape sizes(gradient_.dim(), 1);
    sizes[0] = -1;
    combined.push_back(sum_weighted(gradient_.mul(c.view(sizes))));
  }
  return at::stack(combined);
}

Tensor ConvolutionForm::squares_with(const FormList& others,
                                     double share,
                                     bool /*is_for_trace*/) const {
  std::vector<Tensor> columns{gradient_};
  for (const auto& other : others) {
    const auto* convolution = dynamic_cast<const ConvolutionForm*>(other.get());
    if (!convolution || !is_same_memory(convolution->input_, input_)) return {};
    columns.push_back(convolution->gradient_);
  }
  if (K() != 1) return {};
  const Tensor squares = sparse_squares(input_, columns, shape_, geometry_);
  return squares.defined() ? squares.mul_(share) : squares;
}

std::shared_ptr<const Form> ConvolutionForm::select(const Tensor& index) const {
  const Tensor samples = K() == 1 ? index : index.remainder(input_.size(0));
  return std::make_shared<ConvolutionForm>(
      input_.index_select(0, samples), gradient_.index_select(0, index), shape_, geometry_);
}

std::shared_ptr<const Form> ConvolutionForm::with_factors(std::vector<Tensor> factors) const {
  return std::make_shared<ConvolutionForm>(
      std::move(factors[0]), std::move(factors[1]), shape_, geometry_);
}

std::shared_ptr<const Form> ConvolutionForm::followed_by(const FormList& others) const {
  bool shares = true, is_single = K() == 1;
  std::vector<Tensor> inputs{input_}, gradients{gradient_};
  for (const auto& other : others) {
    const auto* conv = dynamic_cast<const ConvolutionForm*>(other.get());
    if (!conv) return Form::followed_by(others);
    shares = shares && is_same_memory(conv->input_, input_);
    is_single = is_single && conv->K() == 1;
    inputs.push_back(conv->input_);
    gradients.push_back(conv->gradient_);
  }
  if (!shares && !is_single) return Form::followed_by(others);
  return std::make_shared<ConvolutionForm>(
      shares ? input_ : at::cat(inputs), at::cat(gradients), shape_, geometry_);
}

Tensor ConvolutionForm::position_inputs() const {
  if (geometry_.groups != 1 || geometry_.is_transposed) return {};
  return patches(padded(input_), 0, input_.size(1))
      .reshape({input_.size(0), product(shape_) / shape_[0], -1})
      .transpose(1, 2);
}

Tensor ConvolutionForm::position_gradients() const {
  return geometry_.groups == 1 && !geometry_.is_transposed ? gradient_.flatten(2).transpose(1, 2)
                                                           : Tensor();
}

Tensor ConvolutionForm::inputs_of(int64_t begin, int64_t end) const {
  if (K() == 1) return input_.slice(0, begin, end);
  const auto options = input_.options().dtype(at::kLong);
  return input_.index_select(0, at::arange(begin, end, options).remainder_(input_.size(0)));
}

}  // namespace flightdeck

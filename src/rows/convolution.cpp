// SPDX-License-Identifier: MIT
#include "rows/convolution.h"

#include <algorithm>
#include <vector>

#include <ATen/ATen.h>

#include "rows/instances.h"
#include "rows/outer.h"

namespace flightdeck {
namespace {

// Many small groups (depthwise) go through one batched product; few large ones one at a time.
constexpr int64_t kMaxGroupsOneByOne = 4;

// Every combination of one offset per dimension, in row-major order.
std::vector<int64_t> offsets(const Shape& counts, const Shape& strides) {
  std::vector<int64_t> all{0};
  for (size_t k = 0; k < counts.size(); ++k) {
    std::vector<int64_t> finer;
    finer.reserve(all.size() * counts[k]);
    for (int64_t offset : all) {
      for (int64_t i = 0; i < counts[k]; ++i) finer.push_back(offset + i * strides[k]);
    }
    all = std::move(finer);
  }
  return all;
}

// [K * N, ...] -> [K, N, ...]; sizes may be those of one column.
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
  // A view [N, channels, *kernel, *output space] of the padded input.
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

bool ConvolutionForm::answers_linearly(const Questions& questions) const {
  return !questions.any_instances() && !questions.norms && !questions.gram;
}

Answers ConvolutionForm::answer_linearly(const Questions& questions) const {
  Answers answers;
  answers.algorithm = "one convolution";
  if (!questions.sum) return answers;
  answers.sum = sum_weighted(gradient_);
  apply_share(questions, answers);
  return answers;
}

Answers ConvolutionForm::answer(const Questions& questions) const {
  Answers answers;
  if (answers_linearly(questions)) {
    answers = answer_linearly(questions);
  } else if (geometry_.groups > kMaxGroupsOneByOne) {
    answers = answer_grouped(questions);
  } else {
    const Tensor input = padded(input_);
    for (int64_t group = 0; group < geometry_.groups; ++group) {
      Answers part = answer_group(questions, input, group);
      if (group == 0) {
        answers = std::move(part);
        continue;
      }
      if (part.sum.defined()) answers.sum = at::cat({answers.sum, part.sum});
      if (part.second.defined()) answers.second = at::cat({answers.second, part.second});
      if (part.norms.defined()) answers.norms = at::hypot(answers.norms, part.norms);
      if (part.gram.defined()) answers.gram += part.gram;
      if (part.dense.defined()) answers.dense = at::cat({answers.dense, part.dense}, 1);
      if (part.mean_dots.defined()) answers.mean_dots += part.mean_dots;
      if (part.deviations.defined()) answers.deviations += part.deviations;
      if (part.variance.defined()) answers.variance = at::cat({answers.variance, part.variance});
      for (size_t k = 0; k < part.histograms.size(); ++k) {
        answers.histograms[k] += part.histograms[k];
      }
      for (size_t k = 0; k < part.joint_histograms.size(); ++k) {
        answers.joint_histograms[k] += part.joint_histograms[k];
      }
    }
  }
  if (questions.directions.defined() && !answers.dots.defined()) {
    answers.dots = dots(questions.directions);
  }
  return answers;
}

Answers ConvolutionForm::answer_group(const Questions& questions,
                                      const Tensor& padded,
                                      int64_t group) const {
  const int64_t J = shape_[0] / geometry_.groups;
  const int64_t C = shape_[1];
  const Shape kernel(shape_.begin() + 2, shape_.end());
  const Shape space(gradient_.sizes().begin() + 2, gradient_.sizes().end());

  Instances instances;
  instances.N = N();
  instances.samples = input_.size(0);
  instances.T = product(space);
  instances.unit = product(kernel);
  instances.I = C * instances.unit;
  instances.J = J;
  instances.options = options();
  const Tensor gradient = gradient_.slice(1, group * J, (group + 1) * J).flatten(2);  // [N, J, T]
  instances.rows = [&](int64_t begin, int64_t end) {
    const Tensor block =
        patches(padded, group * C + begin / instances.unit, (end - begin) / instances.unit)
            .reshape({input_.size(0), end - begin, instances.T});
    if (K() == 1) return at::bmm(block, gradient.transpose(1, 2));
    const Tensor columns = gradient.view({K(), input_.size(0), J, instances.T});
    return at::matmul(block, columns.transpose(2, 3)).flatten(0, 1);
  };
  Tensor side_by_side;  // [N, K * J, T], made when first needed
  if (K() > 1) {
    instances.rows_side_by_side = [&](int64_t begin, int64_t end) {
      if (!side_by_side.defined()) {
        side_by_side = gradient.view({K(), input_.size(0), J, instances.T})
                           .transpose(0, 1)
                           .reshape({input_.size(0), K() * J, instances.T});
      }
      const Tensor block =
          patches(padded, group * C + begin / instances.unit, (end - begin) / instances.unit)
              .reshape({input_.size(0), end - begin, instances.T});
      return at::bmm(block, side_by_side.transpose(1, 2));
    };
  }

  Shape kernel_strides, space_strides;
  for (size_t k = 0; k < kernel.size(); ++k) {
    kernel_strides.push_back(padded.stride(2 + k) * geometry_.dilation[k]);
    space_strides.push_back(padded.stride(2 + k) * geometry_.stride[k]);
  }
  Shape base_counts{C}, base_strides{padded.stride(1)};
  base_counts.insert(base_counts.end(), kernel.begin(), kernel.end());
  base_strides.insert(base_strides.end(), kernel_strides.begin(), kernel_strides.end());
  const std::vector<int64_t> base = offsets(base_counts, base_strides);
  const std::vector<int64_t> step = offsets(space, space_strides);
  const auto describe = [&](int64_t begin, auto& work) {
    using Scalar = std::remove_const_t<std::remove_pointer_t<decltype(work.a)>>;
    work.a = padded.data_ptr<Scalar>() + group * C * padded.stride(1);
    work.a_sample = padded.stride(0);
    work.a_period = padded.size(0);
    work.base = base.data() + begin;
    work.step = step.data();
    work.b = gradient.data_ptr<Scalar>();
    work.b_sample = gradient.stride(0);
    work.b_t = gradient.stride(2);
    work.b_j = gradient.stride(1);
  };
  instances.describe_float = describe;
  instances.describe_double = describe;

  const bool only_norms =
      K() == 1 && !questions.sum && !questions.any_instances() && !questions.gram;
  const double by_gram =
      gram_norm_flops(instances.N, instances.T, instances.I, instances.J, padded.is_cpu());
  if (only_norms && by_gram < instance_flops(instances)) {
    Answers answers;
    answers.norms = norms_by_gram(padded, group, questions.scratch_bytes);
    answers.algorithm = "norms by Gram over positions";
    return answers;
  }

  Questions formed = questions;
  const bool looks_at_rows = questions.gram || questions.any_centred() || questions.any_counts();
  if (questions.directions.defined() && looks_at_rows && geometry_.groups == 1) {
    formed.directions =
        questions.directions.movedim(1, -1).reshape({-1, instances.I, J});  // [V, I, J]
  } else {
    formed.directions = Tensor();
  }
  for (Tensor& bin : formed.value_bins) {  // from the weight's shape to [I, J]
    bin = bin.slice(0, group * J, (group + 1) * J).movedim(0, -1).reshape({instances.I, J});
  }
  Answers answers = answer_by_instances(instances, formed);
  // From [I, J] to the weight's [J, C, *kernel].
  const auto as_weight = [&](const Tensor& matrix, int64_t lead) {
    Shape split = matrix.sizes().slice(0, lead).vec();
    split.push_back(C);
    split.insert(split.end(), kernel.begin(), kernel.end());
    split.push_back(J);
    return matrix.view(split).movedim(-1, lead);
  };
  if (answers.sum.defined()) answers.sum = as_weight(answers.sum, 0);
  if (answers.second.defined()) answers.second = as_weight(answers.second, 0);
  if (answers.variance.defined()) answers.variance = as_weight(answers.variance, 0);
  if (answers.dense.defined()) answers.dense = as_weight(answers.dense, 1);
  return answers;
}

Tensor ConvolutionForm::norms_by_gram(const Tensor& padded,
                                      int64_t group,
                                      int64_t scratch_bytes) const {
  const int64_t J = shape_[0] / geometry_.groups;
  const Tensor views = patches(padded, group * shape_[1], shape_[1]);
  const Tensor gradient = gradient_.slice(1, group * J, (group + 1) * J).flatten(2);  // [N, J, T]
  const int64_t T = gradient.size(2);
  const int64_t I = product(shape_) / shape_[0];
  const int64_t piece = rows_per_piece({I + 2 * T, T}, options(), scratch_bytes);
  std::vector<Tensor> norms;
  for (int64_t begin = 0; begin < N(); begin += piece) {
    const Tensor a = views.slice(0, begin, begin + piece);
    norms.push_back(
        flightdeck::norms_by_gram(a.reshape({a.size(0), I, T}).transpose(1, 2),
                                  gradient.slice(0, begin, begin + piece).transpose(1, 2),
                                  scratch_bytes));
  }
  return at::cat(norms);
}

Answers ConvolutionForm::answer_grouped(const Questions& questions) const {
  Answers answers;
  Questions rest = questions;
  rest.directions = Tensor();
  // The patches of a piece are copied: a kernel's size times its input.
  const int64_t patch_entries = product(shape_) / shape_[0] * geometry_.groups;
  const int64_t positions = product(gradient_.sizes().slice(2).vec());
  const int64_t piece =
      rows_per_piece({patch_entries, positions}, options(), questions.scratch_bytes);
  std::vector<Tensor> pieces;
  for (int64_t begin = 0; begin < N(); begin += piece) {
    pieces.push_back(dense(begin, std::min(begin + piece, N())));
  }
  answer_from_dense(pieces.size() == 1 ? pieces[0] : at::cat(pieces), rest, answers);
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
  // <g_n, V> = <conv(input_n, V), gradient_n>: one convolution per direction, no rows.
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

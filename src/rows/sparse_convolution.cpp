// SPDX-License-Identifier: MIT
#include "rows/sparse_convolution.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <ATen/ATen.h>

#include "kernels/sparse_columns/sparse_columns.h"
#include "rows/parallel.h"

namespace flightdeck {
namespace {

// Entries that are not zero cost somewhat more than those of a dense product, which also has the
// better order in memory (bench/sparse_columns_bench).
constexpr double kMostWork = 0.5;

// So many samples and channels say how many entries are zero.
constexpr int64_t kSamplesSeen = 2, kChannelsSeen = 16;

bool is_plain(const Tensor& tensor) {
  const auto type = tensor.scalar_type();
  return tensor.is_cpu() && (type == at::kFloat || type == at::kDouble);
}

int64_t lanes_of(const Tensor& tensor) {
  return kernels::sparse_columns_lanes(tensor.scalar_type() == at::kDouble);
}

// Returns the work of whole vectors over that of the entries in them.
double padding_of(int64_t entries, int64_t lanes) {
  return double((entries + lanes - 1) / lanes * lanes) / double(entries);
}

// Returns the share of positions at which one of the columns [N, J, *space] is not zero, in some of
// the channels.
template <typename Scalar>
double share_seen(const std::vector<Tensor>& columns) {
  const int64_t N = columns[0].size(0), J = columns[0].size(1);
  const int64_t T = columns[0].numel() / std::max<int64_t>(1, N * J);
  const int64_t next_n = std::max<int64_t>(1, N / kSamplesSeen);
  const int64_t next_j = std::max<int64_t>(1, J / kChannelsSeen);
  std::vector<const Scalar*> lines;
  for (const Tensor& column : columns) lines.push_back(column.data_ptr<Scalar>());
  int64_t seen = 0, found = 0;
  for (int64_t n = 0; n < N; n += next_n) {
    for (int64_t j = 0; j < J; j += next_j, seen += T) {
      for (int64_t t = 0; t < T; ++t) {
        const int64_t entry = (n * J + j) * T + t;
        const auto is_not_zero = [entry](const Scalar* line) { return line[entry] != 0; };
        found += std::any_of(lines.begin(), lines.end(), is_not_zero) ? 1 : 0;
      }
    }
  }
  return seen == 0 ? 1 : double(found) / double(seen);
}

double share_of_entries(const std::vector<Tensor>& columns) {
  return columns[0].scalar_type() == at::kFloat ? share_seen<float>(columns)
                                                : share_seen<double>(columns);
}

// Zeros may be left out beside finite numbers only.
bool is_finite(const Tensor& tensor) { return std::isfinite(tensor.sum().item<double>()); }

bool fits_offsets(int64_t elements) { return elements < std::numeric_limits<int32_t>::max(); }

// Returns every combination of one offset per dimension, in row-major order.
std::vector<int64_t> combinations(const Shape& counts, const Shape& steps) {
  std::vector<int64_t> all{0};
  for (size_t dim = 0; dim < counts.size(); ++dim) {
    std::vector<int64_t> finer;
    for (int64_t offset : all) {
      for (int64_t k = 0; k < counts[dim]; ++k) finer.push_back(offset + k * steps[dim]);
    }
    all = std::move(finer);
  }
  return all;
}

Shape space_of(at::IntArrayRef sizes) { return sizes.slice(2).vec(); }

// Copies [N, C, *space] to [N, *padded space, C], with room behind for whole vectors.
Tensor channels_last(const Tensor& input, const Shape& padding) {
  Shape sizes{input.size(0)};
  for (size_t dim = 0; dim < padding.size(); ++dim) {
    sizes.push_back(input.size(int64_t(dim) + 2) + 2 * padding[dim]);
  }
  sizes.push_back(input.size(1));
  const int64_t count = product(sizes);
  const Tensor memory = at::zeros({count + kernels::kReadAhead}, input.options());
  const Tensor padded = memory.slice(0, 0, count).view(sizes);
  Tensor inside = padded;
  for (size_t dim = 0; dim < padding.size(); ++dim) {
    inside = inside.narrow(int64_t(dim) + 1, padding[dim], input.size(int64_t(dim) + 2));
  }
  inside.copy_(input.movedim(1, -1));
  return padded;
}

// Holds where the patches of a padded input [N, *space, C] begin, and the runs of neighbours that
// they are made of.
struct Patches {
  Patches(const Tensor& padded,
          const Shape& kernel,
          const Shape& positions,
          const ConvolutionGeometry& geometry) {
    const size_t dims = kernel.size();
    Shape kernel_steps, position_steps;
    for (size_t dim = 0; dim < dims; ++dim) {
      const int64_t stride = padded.stride(int64_t(dim) + 1);
      kernel_steps.push_back(stride * geometry.dilation[dim]);
      position_steps.push_back(stride * geometry.stride[dim]);
    }
    Shape outer = kernel;
    run = padded.size(-1);
    if (geometry.dilation.back() == 1) {
      run *= kernel.back();
      outer.pop_back();
      kernel_steps.pop_back();
    }
    base = combinations(outer, kernel_steps);
    step = combinations(positions, position_steps);
  }

  std::vector<int64_t> base, step;
  int64_t run;
};

template <typename Scalar>
Tensor squares_of(const Tensor& padded,
                  const std::vector<Tensor>& columns,
                  const Patches& patches) {
  std::vector<const Scalar*> b;
  for (const Tensor& column : columns) b.push_back(column.data_ptr<Scalar>());
  kernels::SparseSquares<Scalar> work;
  work.K = static_cast<int64_t>(columns.size());
  work.N = columns[0].size(0);
  work.J = columns[0].size(1);
  work.T = static_cast<int64_t>(patches.step.size());
  work.b = b.data();
  work.a = padded.data_ptr<Scalar>();
  work.a_sample = padded.stride(0);
  work.base = patches.base.data();
  work.runs = static_cast<int64_t>(patches.base.size());
  work.run = patches.run;
  work.step = patches.step.data();
  const Tensor squares = at::empty({work.J, work.runs * work.run}, padded.options());
  work.squares = squares.data_ptr<Scalar>();
  kernels::sparse_squares(work, run_in_parallel, at::get_num_threads());
  return squares;
}

// Holds the pairs of an output position and a kernel position that reach each input position.
template <typename Pair>
struct Reached {
  Reached(const Shape& inputs,
          const Shape& outputs,
          const Shape& kernel,
          const ConvolutionGeometry& geometry) {
    const size_t dims = kernel.size();
    const int64_t P = product(inputs), O = product(kernel);
    for (int64_t p = 0; p < P; ++p) {
      first.push_back(static_cast<int64_t>(pairs.size()));
      for (int64_t o = 0; o < O; ++o) {
        int64_t t = 0, p_left = p, o_left = o, scale = 1;
        bool is_inside = true;
        for (size_t dim = dims; dim-- > 0 && is_inside;) {
          const int64_t at = p_left % inputs[dim] + geometry.padding[dim] -
                             o_left % kernel[dim] * geometry.dilation[dim];
          is_inside =
              at >= 0 && at % geometry.stride[dim] == 0 && at / geometry.stride[dim] < outputs[dim];
          t += at / geometry.stride[dim] * scale;
          scale *= outputs[dim];
          p_left /= inputs[dim];
          o_left /= kernel[dim];
        }
        if (is_inside) pairs.push_back({static_cast<int32_t>(t), static_cast<int32_t>(o)});
      }
    }
    first.push_back(static_cast<int64_t>(pairs.size()));
  }

  std::vector<Pair> pairs;
  std::vector<int64_t> first;
};

template <typename Scalar>
Tensor inputs_of(const Tensor& stack,
                 const Tensor& weight,
                 const Shape& input_shape,
                 const ConvolutionGeometry& geometry) {
  using Work = kernels::SparseInputs<Scalar>;
  const Shape no_padding(geometry.padding.size(), 0), kernel = space_of(weight.sizes());
  const Shape inputs(input_shape.begin() + 2, input_shape.end()),
      outputs = stack.sizes().slice(3).vec();
  const Reached<typename Work::Pair> reached(inputs, outputs, kernel, geometry);
  const Tensor memory = channels_last(weight, no_padding);  // [J, *kernel, C]
  Work work;
  work.K = stack.size(0);
  work.N = stack.size(1);
  work.J = stack.size(2);
  work.T = product(outputs);
  work.C = weight.size(1);
  work.P = product(inputs);
  work.b = stack.data_ptr<Scalar>();
  work.w = memory.data_ptr<Scalar>();
  work.offsets = product(kernel);
  work.pairs = reached.pairs.data();
  work.first = reached.first.data();
  Shape sizes{work.K};
  sizes.insert(sizes.end(), input_shape.begin(), input_shape.end());
  const Tensor result = at::empty(sizes, stack.options());
  work.x = result.data_ptr<Scalar>();
  kernels::sparse_inputs(work, run_in_parallel);
  return result;
}

// Returns true if products of these columns [N, J, *space] with patches of the input are cheaper
// without the zeros, and may be.
bool columns_pay(const Tensor& input,
                 const std::vector<Tensor>& columns,
                 const Shape& weight_shape,
                 const ConvolutionGeometry& geometry) {
  const int64_t lanes = is_plain(input) ? lanes_of(input) : 1;
  if (geometry.groups != 1 || lanes == 1 || columns[0].numel() == 0) return false;
  for (const Tensor& column : columns) {
    const bool fits = is_plain(column) && column.scalar_type() == input.scalar_type() &&
                      column.is_contiguous() && column.sizes() == columns[0].sizes();
    if (!fits) return false;
  }
  const int64_t run = weight_shape[1] * (geometry.dilation.back() == 1 ? weight_shape.back() : 1);
  if (share_of_entries(columns) * padding_of(run, lanes) > kMostWork) return false;
  // Somewhat more than a sample takes when it is padded.
  return fits_offsets(2 * input.numel()) && is_finite(input);
}

}  // namespace

Tensor sparse_squares(const Tensor& input,
                      const std::vector<Tensor>& columns,
                      const Shape& weight_shape,
                      const ConvolutionGeometry& geometry) {
  if (!columns_pay(input, columns, weight_shape, geometry)) return {};
  const Shape kernel = space_of(weight_shape);
  const Tensor padded = channels_last(input, geometry.padding);
  const Patches patches(padded, kernel, space_of(columns[0].sizes()), geometry);
  const Tensor squares = input.scalar_type() == at::kFloat
                             ? squares_of<float>(padded, columns, patches)
                             : squares_of<double>(padded, columns, patches);
  Shape sizes{weight_shape[0]};
  sizes.insert(sizes.end(), kernel.begin(), kernel.end());
  sizes.push_back(weight_shape[1]);
  return squares.view(sizes).movedim(-1, 1);
}

Tensor sparse_inputs(const Tensor& stack,
                     const Tensor& weight,
                     const Shape& input_shape,
                     const ConvolutionGeometry& geometry) {
  const int64_t lanes = is_plain(stack) ? lanes_of(stack) : 1;
  const bool fits = geometry.groups == 1 && is_plain(weight) && lanes > 1 &&
                    stack.scalar_type() == weight.scalar_type() && stack.numel() > 0 &&
                    fits_offsets(weight.numel());
  if (!fits) return {};
  const Tensor columns = stack.contiguous();
  const double share = share_of_entries(columns.unbind(0));
  if (share * padding_of(weight.size(1), lanes) > kMostWork || !is_finite(weight)) return {};
  return stack.scalar_type() == at::kFloat
             ? inputs_of<float>(columns, weight, input_shape, geometry)
             : inputs_of<double>(columns, weight, input_shape, geometry);
}

}  // namespace flightdeck

// SPDX-License-Identifier: MIT
#include "rows/instances.h"

#include <algorithm>
#include <vector>

#include <ATen/ATen.h>

#include "kernels/patch_products/patch_products.h"
#include "rows/parallel.h"

namespace flightdeck {
namespace {

// Returns every combination of one offset per dimension, in row-major order.
std::vector<int64_t> offsets(at::IntArrayRef counts, at::IntArrayRef strides) {
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

template <typename Scalar>
Scalar* data_or_null(const Tensor& tensor) {
  return tensor.defined() ? tensor.data_ptr<Scalar>() : nullptr;
}

// Runs the fused kernel on ranges of i, which writes the sums where they belong.
class FusedRanges {
 public:
  FusedRanges(const Instances& instances, Sums& sums)
      : instances_(instances),
        sums_(sums),
        base_(offsets(instances.a.sizes().slice(1, instances.i_dims),
                      instances.a.strides().slice(1, instances.i_dims))),
        step_(offsets(instances.a.sizes().slice(1 + instances.i_dims),
                      instances.a.strides().slice(1 + instances.i_dims))) {}

  // Runs one range; `rows` is [N, end - begin, J], or undefined if nobody wants them.
  void run(int64_t begin, int64_t end, const Tensor& rows) {
    if (instances_.b.scalar_type() == at::kFloat) {
      run_as<float>(begin, end, rows);
    } else {
      run_as<double>(begin, end, rows);
    }
  }

 private:
  template <typename Scalar>
  void run_as(int64_t begin, int64_t end, const Tensor& rows) {
    const Tensor &a = instances_.a, &b = instances_.b;
    kernels::PatchProducts<Scalar> work;
    work.N = instances_.N();
    work.T = instances_.T();
    work.I = end - begin;
    work.J = instances_.J();
    work.a = a.data_ptr<Scalar>();
    work.a_sample = a.stride(0);
    work.a_period = a.size(0);
    work.base = base_.data() + begin;
    work.step = step_.data();
    work.b = b.data_ptr<Scalar>();
    work.b_sample = b.stride(0);
    work.b_t = b.stride(1);
    work.b_j = b.stride(2);
    const Tensor sum = sums_.sum_buffer(), squares = sums_.squares_buffer(),
                 squared_norms = sums_.squared_norms_buffer();
    if (sum.defined()) work.sum = sum.data_ptr<Scalar>() + begin * work.J;
    if (squares.defined()) work.second = squares.data_ptr<Scalar>() + begin * work.J;
    work.rows = data_or_null<Scalar>(rows);
    work.rows_sample = (end - begin) * work.J;
    Tensor norms_here;
    if (squared_norms.defined()) norms_here = at::empty({work.N}, at::kDouble);
    work.squared_norms = data_or_null<double>(norms_here);
    kernels::patch_products(work, run_in_parallel, at::get_num_threads());
    if (squared_norms.defined()) squared_norms.add_(norms_here);
  }

  const Instances& instances_;
  Sums& sums_;
  std::vector<int64_t> base_, step_;
};

// A piece stays in the last-level cache, since answers that look at rows read it again.
constexpr int64_t kPieceBytes = int64_t{8} << 20;

// Returns how many i fit into the scratch memory with all samples. The fused kernel copies no
// patches, but packs all output gradients for every range.
int64_t range_size(const Instances& instances, bool is_fused, int64_t scratch_bytes) {
  const int64_t patches = is_fused ? 0 : instances.samples() * instances.T();
  const int64_t entries = instances.N() * instances.J() + patches;
  const int64_t unit_bytes =
      instances.unit() * entries * static_cast<int64_t>(instances.b.element_size());
  return instances.unit() * std::max<int64_t>(1, scratch_bytes / std::max<int64_t>(1, unit_bytes));
}

Piece piece_of(const Tensor& rows, int64_t begin, int64_t J) {
  return {rows.view({rows.size(0), -1}), 0, begin * J};
}

std::string sweep_fused(const Instances& instances, int64_t scratch_bytes, Sweep& sweep) {
  const int64_t N = instances.N(), I = instances.I(), J = instances.J();
  FusedRanges ranges(instances, sweep.sums());
  if (!sweep.look().reads()) {  // nobody looks at rows in the cache: one range
    Tensor rows;
    if (sweep.look().keeps) rows = at::empty({N, I, J}, instances.b.options());
    ranges.run(0, I, rows);
    if (rows.defined()) sweep.add(piece_of(rows, 0, J), /*is_summed=*/true);
    return rows.defined() ? "fused kernel" : "fused kernel, rows never written";
  }
  const int64_t range = range_size(instances, true, std::min(scratch_bytes, kPieceBytes));
  const Tensor scratch = at::empty({N * std::min(range, I) * J}, instances.b.options());
  for (int64_t begin = 0; begin < I; begin += range) {
    const int64_t end = std::min(begin + range, I);
    const Tensor rows = scratch.slice(0, 0, N * (end - begin) * J).view({N, end - begin, J});
    ranges.run(begin, end, rows);
    sweep.add(piece_of(rows, begin, J), /*is_summed=*/true);
  }
  return "rows formed in pieces by the fused kernel";
}

// Returns the patches of a range, [samples, end - begin, T].
Tensor patches_of(const Instances& instances, int64_t begin, int64_t end) {
  return instances.a.slice(1, begin / instances.unit(), end / instances.unit())
      .reshape({instances.samples(), end - begin, instances.T()});
}

Tensor columns_of(const Instances& instances) {  // [K, samples, T, J]
  return instances.b.view({-1, instances.samples(), instances.T(), instances.J()});
}

// Forms the rows of a range, [N, end - begin, J].
Tensor form_rows(const Instances& instances, int64_t begin, int64_t end) {
  const Tensor patches = patches_of(instances, begin, end);
  if (instances.samples() == instances.N()) return at::bmm(patches, instances.b);
  return at::matmul(patches, columns_of(instances)).flatten(0, 1);
}

// Puts columns that share the patches side by side, [samples, T, K * J], in the order of memory.
Tensor side_by_side(const Instances& instances) {
  const int64_t samples = instances.samples(), T = instances.T();
  const Tensor columns = columns_of(instances);
  if (instances.b.stride(1) < instances.b.stride(2)) {
    return columns.permute({1, 0, 3, 2}).reshape({samples, -1, T}).transpose(1, 2);
  }
  return columns.permute({1, 2, 0, 3}).reshape({samples, T, -1});
}

// Returns true if squares alone are taken of columns that share the patches: the rows of all
// columns can then be formed without a copy of the patches for each, in any order.
bool takes_only_squares(const Instances& instances, const Look& look) {
  return instances.samples() != instances.N() && look.squares && !look.sum && !look.norms &&
         !look.reads() && !look.keeps;
}

void add_squares(const Instances& instances, int64_t range, Sums& sums) {
  const Tensor b = side_by_side(instances);
  const Tensor squares = sums.squares_buffer().view({instances.I(), instances.J()});
  for (int64_t begin = 0; begin < instances.I(); begin += range) {
    const int64_t end = std::min(begin + range, instances.I());
    const Tensor rows = at::bmm(patches_of(instances, begin, end), b);
    const Tensor split = rows.view({rows.size(0), end - begin, -1, instances.J()});
    squares.slice(0, begin, end)
        .copy_(at::linalg_vector_norm(split, 2, at::IntArrayRef({0, 2})).square_());
  }
}

}  // namespace

double Instances::flops() const {
  return 2.0 * double(N()) * double(T()) * double(I()) * double(J());
}

bool fused_kernel_pays(const at::TensorOptions& options, int64_t J) {
  const auto dtype = c10::typeMetaToScalarType(options.dtype());
  return options.device().is_cpu() && (dtype == at::kFloat || dtype == at::kDouble) && J >= 8;
}

std::string sweep_instances(const Instances& instances, int64_t scratch_bytes, Sweep& sweep) {
  if (fused_kernel_pays(instances.b.options(), instances.J())) {
    return sweep_fused(instances, scratch_bytes, sweep);
  }
  const int64_t range = range_size(instances, false, scratch_bytes);
  if (takes_only_squares(instances, sweep.look())) {
    add_squares(instances, range, sweep.sums());
  } else {
    for (int64_t begin = 0; begin < instances.I(); begin += range) {
      const int64_t end = std::min(begin + range, instances.I());
      sweep.add(piece_of(form_rows(instances, begin, end), begin, instances.J()));
    }
  }
  return "rows formed in pieces by batched products";
}

}  // namespace flightdeck

// SPDX-License-Identifier: MIT
#include "rows/instances.h"

#include <algorithm>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include "rows/centred_sums.h"
#include "rows/counts.h"

namespace flightdeck {
namespace {

void parallel(int64_t tasks, const std::function<void(int64_t)>& body) {
  at::parallel_for(0, tasks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) body(task);
  });
}

template <typename Scalar>
Scalar* data_or_null(const Tensor& tensor) {
  return tensor.defined() ? tensor.data_ptr<Scalar>() : nullptr;
}

template <typename Scalar, typename Describe>
void run(const Instances& instances,
         const Describe& describe,
         int64_t begin,
         int64_t end,
         const Tensor& sum,
         const Tensor& second,
         const Tensor& squared_norms,
         const Tensor& rows) {
  kernels::PatchProducts<Scalar> work;
  work.N = instances.N;
  work.T = instances.T;
  work.I = end - begin;
  work.J = instances.J;
  describe(begin, work);
  if (sum.defined()) work.sum = sum.data_ptr<Scalar>() + begin * instances.J;
  if (second.defined()) work.second = second.data_ptr<Scalar>() + begin * instances.J;
  work.rows = data_or_null<Scalar>(rows);
  work.rows_sample = (end - begin) * instances.J;
  Tensor norms;
  if (squared_norms.defined()) {
    norms = at::empty({instances.N}, at::kDouble);
    work.squared_norms = norms.data_ptr<double>();
  }
  kernels::patch_products(work, parallel, at::get_num_threads());
  if (norms.defined()) squared_norms.add_(norms);
}

// A contiguous piece of consecutive i, all samples: what one step of the sweep holds. The fused
// kernel copies no patches, but packs all output gradients for every piece.
int64_t units_per_piece(const Instances& instances, bool fused, int64_t scratch_bytes) {
  const int64_t patches = fused ? 0 : instances.samples * instances.T;
  const int64_t entries = instances.N * instances.J + patches;
  const int64_t unit_bytes =
      instances.unit * entries * static_cast<int64_t>(instances.options.dtype().itemsize());
  return std::max<int64_t>(1, scratch_bytes / std::max<int64_t>(1, unit_bytes));
}

// A piece is read again for the Gram matrix, products with the sum and counts: keep it in the
// last-level cache.
constexpr int64_t kPieceBytes = int64_t{8} << 20;

// Something is asked that looks at the rows once more after they were formed.
bool reads_rows(const Questions& questions) {
  return questions.gram || questions.any_centred() || questions.any_counts();
}

// Nothing but squares asked for: the columns need not be brought into order.
bool only_squares(const Instances& instances, const Questions& questions) {
  return instances.rows_side_by_side && questions.second && !questions.sum && !questions.norms &&
         !questions.gram && !questions.dense && !questions.any_centred() && !questions.any_counts();
}

Tensor squares(const Instances& instances, int64_t begin, int64_t end) {
  const Tensor rows = instances.rows_side_by_side(begin, end);
  const Tensor split = rows.view({rows.size(0), end - begin, -1, instances.J});
  return at::linalg_vector_norm(split, 2, at::IntArrayRef({0, 2})).square_();
}

// All i at once, by batched products: no piece has to be put together.
Answers whole(const Instances& instances, const Questions& questions) {
  Answers answers;
  answer_from_dense(instances.rows(0, instances.I), questions, answers);
  return answers;
}

// The part of the questions that concerns i in [begin, end).
Questions for_range(const Questions& questions, int64_t begin, int64_t end) {
  Questions part = questions;
  for (Tensor& bin : part.value_bins) bin = bin.slice(0, begin, end);
  return part;
}

Answers sweep(const Instances& instances, const Questions& questions, bool fused, int64_t piece) {
  const auto& options = instances.options;
  Answers answers;
  if (questions.sum || questions.any_centred()) {
    answers.sum = at::empty({instances.I, instances.J}, options);
  }
  CentredSums centred(instances.N, options);
  if (questions.variance) answers.variance = at::zeros({instances.I, instances.J}, options);
  if (questions.second) answers.second = at::empty({instances.I, instances.J}, options);
  if (questions.gram) answers.gram = at::zeros({instances.N, instances.N}, options);
  if (questions.dense) answers.dense = at::empty({instances.N, instances.I, instances.J}, options);
  if (questions.directions.defined()) {
    answers.dots = at::zeros({instances.N, questions.directions.size(0)}, options);
  }
  Tensor squared_norms;
  if (questions.norms && !questions.gram) {
    squared_norms = at::zeros({instances.N}, options.dtype(at::kDouble));
  }
  // Rows are written into one piece that stays in the cache while it is read; where nobody reads
  // them, to their place.
  const bool is_in_place = fused && questions.dense && !reads_rows(questions);
  if (is_in_place) piece = instances.I;
  Tensor scratch;
  if (fused && !is_in_place) {
    scratch = at::empty({instances.N * std::min(piece, instances.I) * instances.J}, options);
  }
  for (int64_t begin = 0; begin < instances.I; begin += piece) {
    const int64_t end = std::min(begin + piece, instances.I);
    Tensor rows;
    if (!fused && only_squares(instances, questions)) {
      answers.second.slice(0, begin, end).copy_(squares(instances, begin, end));
      continue;
    }
    if (fused) {
      const int64_t entries = instances.N * (end - begin) * instances.J;
      rows = is_in_place
                 ? answers.dense
                 : scratch.slice(0, 0, entries).view({instances.N, end - begin, instances.J});
      run_fused(instances, begin, end, answers.sum, answers.second, squared_norms, rows);
    } else {
      rows = instances.rows(begin, end);
      if (answers.sum.defined()) answers.sum.slice(0, begin, end).copy_(rows.sum(0));
      if (questions.second) {
        answers.second.slice(0, begin, end).copy_(at::linalg_vector_norm(rows, 2, {0}).square_());
      }
      if (squared_norms.defined()) {
        squared_norms += at::linalg_vector_norm(rows, 2, {1, 2}).square_();
      }
    }
    const Tensor flat = rows.view({instances.N, -1});
    if (questions.gram) add_symmetric_product(answers.gram, flat);
    if (questions.any_centred()) {  // a range holds all samples, so its mean is known
      const auto entries = [&](const Tensor& matrix) {
        return matrix.defined() ? matrix.slice(0, begin, end).view({-1}) : matrix;
      };
      centred.add(flat, entries(answers.sum).div(double(instances.N)), entries(answers.variance));
    }
    for (int64_t v = 0; answers.dots.defined() && v < answers.dots.size(1); ++v) {
      const Tensor direction = questions.directions[v].slice(0, begin, end).reshape({-1});
      answers.dots.select(1, v).add_(at::mv(flat, direction));
    }
    count_rows(rows, for_range(questions, begin, end), answers);
    if (questions.dense && !is_in_place) answers.dense.slice(1, begin, end).copy_(rows);
  }
  if (questions.any_centred()) {
    centred.answer(questions, answers.sum.div(double(instances.N)), answers);
  }
  if (!questions.sum) answers.sum = Tensor();
  if (questions.gram) mirror_upper(answers.gram);
  if (questions.norms) {
    answers.norms =
        questions.gram ? norms_from_gram(answers.gram) : squared_norms.sqrt().to(options.dtype());
  }
  apply_share(questions, answers);
  return answers;
}

}  // namespace

bool fused_kernel_pays(const at::TensorOptions& options, int64_t J) {
  const auto dtype = c10::typeMetaToScalarType(options.dtype());
  return options.device().is_cpu() && (dtype == at::kFloat || dtype == at::kDouble) && J >= 8;
}

void run_fused(const Instances& instances,
               int64_t begin,
               int64_t end,
               Tensor sum,
               Tensor second,
               Tensor squared_norms,
               Tensor rows) {
  if (instances.options.dtype() == at::kFloat) {
    run<float>(instances, instances.describe_float, begin, end, sum, second, squared_norms, rows);
  } else {
    run<double>(instances, instances.describe_double, begin, end, sum, second, squared_norms, rows);
  }
}

double instance_flops(const Instances& instances) {
  return 2.0 * instances.N * instances.T * instances.I * instances.J;
}

Answers answer_by_instances(const Instances& instances, const Questions& questions) {
  const bool fused = fused_kernel_pays(instances.options, instances.J);
  if (!fused || reads_rows(questions)) {
    int64_t scratch_bytes = questions.scratch_bytes;
    if (fused) scratch_bytes = std::min(scratch_bytes, kPieceBytes);
    const int64_t piece = units_per_piece(instances, fused, scratch_bytes) * instances.unit;
    const bool is_whole = !fused && piece >= instances.I && !only_squares(instances, questions);
    Answers answers =
        is_whole ? whole(instances, questions) : sweep(instances, questions, fused, piece);
    answers.algorithm = fused ? "rows formed in pieces by the fused kernel"
                              : "rows formed in pieces by batched products";
    return answers;
  }
  const auto& options = instances.options;
  Answers answers;
  if (questions.sum) answers.sum = at::empty({instances.I, instances.J}, options);
  if (questions.second) answers.second = at::empty({instances.I, instances.J}, options);
  if (questions.dense) answers.dense = at::empty({instances.N, instances.I, instances.J}, options);
  Tensor squared_norms;
  if (questions.norms) squared_norms = at::zeros({instances.N}, at::kDouble);
  run_fused(instances, 0, instances.I, answers.sum, answers.second, squared_norms, answers.dense);
  if (questions.norms) answers.norms = squared_norms.sqrt_().to(options.dtype());
  apply_share(questions, answers);
  answers.algorithm = questions.dense ? "fused kernel" : "fused kernel, rows never written";
  return answers;
}

}  // namespace flightdeck

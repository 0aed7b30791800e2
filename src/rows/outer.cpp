// SPDX-License-Identifier: MIT
#include "rows/outer.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include "rows/counts.h"
#include "rows/instances.h"

namespace flightdeck {
namespace {

// Batched products of small matrices reach 25 to 64 GFLOP/s on two CPU cores where the fused kernel
// or one large product reaches about 185 (bench/patch_products_bench.cpp).
constexpr double kBatchedProductPenalty = 6.0;

Instances instances_of(const Tensor& a,
                       const Tensor& b,
                       std::vector<int64_t>& base,
                       std::vector<int64_t>& step) {
  Instances instances;
  instances.N = b.size(0);
  instances.samples = a.size(0);
  instances.T = a.size(1);
  instances.I = a.size(2);
  instances.J = b.size(2);
  instances.options = a.options();
  instances.rows = [a, b](int64_t begin, int64_t end) {
    const Tensor part = a.slice(2, begin, end).transpose(1, 2);
    if (a.size(0) == b.size(0)) return at::bmm(part, b);
    const Tensor columns = b.view({-1, a.size(0), b.size(1), b.size(2)});
    return at::matmul(part, columns).flatten(0, 1);
  };
  if (a.size(0) != b.size(0)) {
    instances.rows_side_by_side = [a, b](int64_t begin, int64_t end) {
      const Tensor columns = b.view({-1, a.size(0), b.size(1), b.size(2)});  // [K, N, T, J]
      const Tensor side_by_side =
          columns.permute({1, 2, 0, 3}).reshape({a.size(0), b.size(1), -1});  // [N, T, K * J]
      return at::bmm(a.slice(2, begin, end).transpose(1, 2), side_by_side);
    };
  }
  base.resize(instances.I);
  step.resize(instances.T);
  for (int64_t i = 0; i < instances.I; ++i) base[i] = i * a.stride(2);
  for (int64_t t = 0; t < instances.T; ++t) step[t] = t * a.stride(1);
  const auto describe = [a, b, &base, &step](int64_t begin, auto& work) {
    using Scalar = std::remove_const_t<std::remove_pointer_t<decltype(work.a)>>;
    work.a = a.data_ptr<Scalar>();
    work.a_sample = a.stride(0);
    work.a_period = a.size(0);
    work.base = base.data() + begin;
    work.step = step.data();
    work.b = b.data_ptr<Scalar>();
    work.b_sample = b.stride(0);
    work.b_t = b.stride(1);
    work.b_j = b.stride(2);
  };
  instances.describe_float = describe;
  instances.describe_double = describe;
  return instances;
}

// A difference of float32 sums keeps four digits where this share of them is left.
constexpr double kLeastLeft = 1e-2;

// Lines of a Gram matrix that a thread takes at least.
constexpr int64_t kLinesAtOnce = 32;

struct Scatter {
  Tensor deviations;  // [N] double: ||g_n - g||²
  Tensor dots;        // [N] double: <g_n, g>
};

Scatter scatter_of(const Tensor& squared_norms, const Tensor& dots) {
  return {squared_norms - 2 * dots + dots.mean(), dots};
}

// In double, where products of float32 factors are exact: the difference of two large sums then has
// all digits of the rows. Of float64 factors it has half of theirs, which rounding_error counts.
Scatter scatter_by_gram(const Tensor& a, const Tensor& b) {
  const Tensor gram = symmetric_product(a.to(at::kDouble), /*lines=*/true);
  gram.mul_(symmetric_product(b.to(at::kDouble), /*lines=*/true));
  return scatter_of(gram.diagonal(), gram.mean(1));
}

Scatter scatter_by_mean(const Tensor& given_a, const Tensor& given_b) {
  const Tensor a = given_a.to(at::kDouble), b = given_b.to(at::kDouble);
  const Tensor dots = at::mm(a, at::mm(a.t(), b)).mul_(b).sum(1).div_(double(a.size(0)));
  return scatter_of(a.square().sum(1).mul_(b.square().sum(1)), dots);
}

// A factor's differences to its mean: their Gram matrix, their products with the mean and the
// mean's squared length. On the CPU.
struct Differences {
  explicit Differences(const Tensor& factor) {
    const Tensor mean = factor.mean(0);
    const Tensor centred = factor - mean;
    gram = symmetric_product(centred, /*lines=*/true);
    along = at::mv(centred, mean);
    length = mean.to(at::kDouble).square().sum().item<double>();
  }

  Tensor gram, along;
  double length;
};

// The same at half the cost, from the factors' differences to their means:
//   <g_n, g_m> = |a|²|b|² + |b|²(u_n + u_m) + |a|²(v_n + v_m) + X_nm
// with u, v the differences along the means a, b and X of second order. Of X no digits are lost
// unless factors differ and their products do not; no answer then. What is summed in the factors'
// own precision is combined in double, in one sweep.
template <typename Scalar>
Scatter scatter_by_differences(const Tensor& a, const Tensor& b) {
  const Differences of_a(a), of_b(b);
  const int64_t N = a.size(0);
  Scatter scatter = {at::empty({N}, at::kDouble), at::empty({N}, at::kDouble)};
  Tensor terms = at::empty({N}, at::kDouble);
  const auto* A = of_a.gram.data_ptr<Scalar>();
  const auto* B = of_b.gram.data_ptr<Scalar>();
  const auto* u = of_a.along.data_ptr<Scalar>();
  const auto* v = of_b.along.data_ptr<Scalar>();
  double* squares = scatter.deviations.data_ptr<double>();
  double* dots = scatter.dots.data_ptr<double>();
  double* sizes = terms.data_ptr<double>();
  at::parallel_for(0, N, kLinesAtOnce, [&](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n) {
      const double u_n = u[n], v_n = v[n];
      const auto second_order = [&](int64_t m, double& both) {
        const double in_a = A[n * N + m], in_b = B[n * N + m];
        both = (in_a + u_n + u[m]) * (in_b + v_n + v[m]);
        return both + of_b.length * in_a + of_a.length * in_b;
      };
      double sum = 0, both = 0;
      for (int64_t m = 0; m < N; ++m) sum += second_order(m, both);
      dots[n] = sum / static_cast<double>(N);
      squares[n] = second_order(n, both);
      sizes[n] = std::abs(both) + of_b.length * A[n * N + n] + of_a.length * B[n * N + n];
    }
  });
  scatter = scatter_of(scatter.deviations, scatter.dots);
  const double left = scatter.deviations.sum().item<double>();
  if (!(left > kLeastLeft * terms.sum().item<double>())) return {};
  const auto linear = [](const Tensor& along) {
    const Tensor exact = along.to(at::kDouble);
    return exact + exact.mean();
  };
  scatter.dots = scatter.dots + of_b.length * linear(of_a.along) +
                 of_a.length * linear(of_b.along) + of_a.length * of_b.length;
  return scatter;
}

Scatter by_differences(const Tensor& a, const Tensor& b) {
  return a.scalar_type() == at::kDouble ? scatter_by_differences<double>(a, b)
                                        : scatter_by_differences<float>(a, b);
}

// Makes variances of second moments [lines, J], less `share` times the squared `sum`, in place;
// returns the lines that lost digits. On the CPU.
template <typename Scalar>
Tensor subtract_squared_mean(const Tensor& moments, const Tensor& sum, double share) {
  const int64_t lines = sum.size(0), J = sum.size(1);
  const auto factor = static_cast<Scalar>(share);
  const auto least = static_cast<Scalar>(kLeastLeft / (1 - kLeastLeft));
  const Tensor lost = at::empty({lines}, at::kBool);
  bool* is_lost = lost.data_ptr<bool>();
  auto* variances = moments.data_ptr<Scalar>();
  const auto* sums = sum.data_ptr<Scalar>();
  at::parallel_for(0, lines, kLinesAtOnce, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      Scalar* variance = variances + i * J;
      const Scalar* s = sums + i * J;
      int bad = 0;
      for (int64_t j = 0; j < J; ++j) {
        const Scalar mean = s[j] * s[j] * factor;
        const Scalar left = variance[j] - mean;
        bad |= left < least * mean;
        variance[j] = left < 0 ? 0 : left;
      }
      is_lost[i] = bad != 0;
    }
  });
  return lost.nonzero().squeeze(1);
}

struct Moments {
  Tensor sum, variance;  // [lines, J], times the share
};

// Of some lines of the parameter, from factors [N, lines] and [N, J], in double: products of
// float32 factors are exact there.
Moments exact_moments(const Tensor& given_a, const Tensor& given_b, double share) {
  const Tensor a = given_a.to(at::kDouble), b = given_b.to(at::kDouble);
  Moments moments = {at::mm(a.t(), b), at::mm(a.square().t(), b.square())};
  moments.variance.addcmul_(moments.sum, moments.sum, -1 / static_cast<double>(a.size(0)));
  moments.variance.clamp_min_(0).mul_(share);
  moments.sum.mul_(share);
  return moments;
}

}  // namespace

double gram_norm_flops(int64_t N, int64_t T, int64_t I, int64_t J, bool is_cpu) {
  return 2.0 * N * T * T * (I + J) * (is_cpu ? kBatchedProductPenalty : 1.0);
}

Tensor norms_by_gram(const Tensor& a, const Tensor& b, int64_t scratch_bytes) {
  const int64_t N = a.size(0), T = a.size(1);
  const int64_t piece = rows_per_piece({2, T, T}, a.options(), scratch_bytes);
  std::vector<Tensor> norms;
  for (int64_t begin = 0; begin < N; begin += piece) {
    const Tensor part_a = a.slice(0, begin, begin + piece);
    const Tensor part_b = b.slice(0, begin, begin + piece);
    Tensor products = at::bmm(part_a, part_a.transpose(1, 2));
    products.mul_(at::bmm(part_b, part_b.transpose(1, 2)));
    norms.push_back(products.sum({1, 2}));
  }
  const Tensor squared = norms.size() == 1 ? norms[0] : at::cat(norms);
  return squared.clamp_min(0).sqrt_();
}

OuterForm::OuterForm(Tensor a, Tensor b)
    : a_(in_row_precision(a)), b_(in_row_precision(b)), shape_{a.size(2), b.size(2)} {
  TORCH_INTERNAL_ASSERT(b_.size(0) % std::max<int64_t>(1, a_.size(0)) == 0 &&
                        a_.size(1) == b_.size(1));
  if (a_.scalar_type() != b_.scalar_type()) {
    const auto dtype = at::promote_types(a_.scalar_type(), b_.scalar_type());
    a_ = a_.to(dtype);
    b_ = b_.to(dtype);
  }
}

Tensor OuterForm::repeated_a() const { return K() == 1 ? a_ : a_.repeat({K(), 1, 1}); }

Answers OuterForm::answer(const Questions& questions) const {
  Answers answers =
      a_.size(1) == 1 ? answer_single_position(questions) : answer_positions(questions);
  if (questions.directions.defined()) answers.dots = dots(questions.directions);
  return answers;
}

Answers OuterForm::answer_single_position(const Questions& questions) const {
  const Tensor a = a_.squeeze(1);  // [N, I]
  const Tensor b = b_.squeeze(1);  // [K * N, J]
  const Tensor columns = b.view({K(), a.size(0), b.size(1)});
  Answers answers;
  answers.algorithm = "one position: products of factor norms, Gram matrices and squares";
  // The share goes into the small factor: the results are as large as the parameter.
  const bool is_shared = questions.share != 1;
  if (questions.sum && !questions.variance) {
    const Tensor total = K() == 1 ? b : columns.sum(0);
    answers.sum = at::mm(a.t(), is_shared ? total.mul(questions.share) : total);
  }
  if (questions.second) {
    const Tensor squares = K() == 1 ? b.square() : columns.square().sum(0);
    answers.second = at::mm(a.square().t(), is_shared ? squares.mul(questions.share) : squares);
  }
  if (questions.norms) {
    answers.norms =
        at::linalg_vector_norm(columns, 2, {2}).mul_(at::linalg_vector_norm(a, 2, {1})).view({-1});
  }
  if (questions.gram) {
    answers.gram = symmetric_product(b, /*lines=*/true);
    const Tensor blocks = answers.gram.view({K(), a.size(0), K(), a.size(0)});
    blocks.mul_(symmetric_product(a, /*lines=*/true).view({1, a.size(0), 1, a.size(0)}));
  }
  if (questions.dense) answers.dense = dense(0, N());
  if (questions.mean_dots || questions.deviations) answer_scatter(questions, answers);
  if (questions.variance) answer_variance(questions, answers);
  count_single_position(questions, answers);
  return answers;
}

void OuterForm::answer_scatter(const Questions& questions, Answers& answers) const {
  const double count = static_cast<double>(N());
  const Tensor a = repeated_a().squeeze(1), b = b_.squeeze(1);
  // Either the rows of the Gram matrix are summed, or the mean is a direction like any other.
  const double by_gram_flops = 2.0 * count * count * (shape_[0] + shape_[1]);
  const double by_mean_flops = 4.0 * count * product(shape_);
  Scatter scatter;
  if (by_gram_flops < by_mean_flops) {
    if (a.is_cpu()) scatter = by_differences(a, b);
    if (!scatter.deviations.defined()) scatter = scatter_by_gram(a, b);
  } else {
    scatter = scatter_by_mean(a, b);
  }
  if (questions.deviations) answers.deviations = scatter.deviations.clamp_min(0);
  if (questions.mean_dots) answers.mean_dots = scatter.dots.mul(questions.share * count);
}

// Variance and sum. A CPU looks which lines cancelled and takes those again in double, as a GPU
// does with all of them: it would have to be waited for.
void OuterForm::answer_variance(const Questions& questions, Answers& answers) const {
  const Tensor a = repeated_a().squeeze(1), b = b_.squeeze(1);
  const double share = questions.share;
  Tensor redo = at::arange(shape_[0], at::kLong);
  if (a.is_cpu()) {
    answers.sum = at::mm(a.t(), b * share);
    answers.variance = at::mm(a.square().t(), b.square().mul_(share));
    const bool is_double = a.scalar_type() == at::kDouble;
    const auto subtract =
        is_double ? &subtract_squared_mean<double> : &subtract_squared_mean<float>;
    redo = subtract(answers.variance, answers.sum, 1 / (static_cast<double>(N()) * share));
    if (is_double) redo = redo.slice(0, 0, 0);
  } else {
    answers.sum = at::empty(shape_, options());
    answers.variance = at::empty(shape_, options());
  }
  const int64_t piece =
      rows_per_piece({2, shape_[1]}, options().dtype(at::kDouble), questions.scratch_bytes);
  for (const Tensor& lines : redo.split(piece)) {
    if (lines.numel() == 0) break;
    const Tensor index = lines.to(a.device());
    const Moments exact = exact_moments(a.index_select(1, index), b, share);
    answers.sum.index_copy_(0, index, exact.sum.to(b.scalar_type()));
    answers.variance.index_copy_(0, index, exact.variance.to(b.scalar_type()));
  }
  if (!questions.sum) answers.sum = Tensor();
}

void OuterForm::count_single_position(const Questions& questions, Answers& answers) const {
  if (!questions.any_counts()) return;
  const Tensor a = repeated_a().squeeze(1), b = b_.squeeze(1);
  for (const Bins& bins : questions.histograms) {
    answers.histograms.push_back(count_outer_into_bins(a, b, bins));
  }
  for (size_t k = 0; k < questions.joint_histograms.size(); ++k) {
    const JointBins& bins = questions.joint_histograms[k];
    answers.joint_histograms.push_back(count_outer_into_joint_bins(
        a, b, questions.value_bins[k], bins.gradients, bins.parameters.count + 1));
  }
}

Answers OuterForm::answer_positions(const Questions& questions) const {
  std::vector<int64_t> base, step;
  const Instances instances = instances_of(a_, b_, base, step);
  const double N = instances.N, T = instances.T, I = instances.I, J = instances.J;
  const bool fused = fused_kernel_pays(a_.options(), instances.J);
  const double penalty = a_.is_cpu() ? kBatchedProductPenalty : 1.0;
  const double sum_flops = 2 * N * T * I * J;
  const double form_flops = sum_flops * (fused ? 1.0 : penalty);

  // Forming the rows gives norms and the sum along the way; else each costs.
  const double norm_flops =
      questions.norms
          ? gram_norm_flops(instances.N, instances.T, instances.I, instances.J, a_.is_cpu())
          : 0.0;
  const double linear_flops = questions.sum ? sum_flops : 0.0;
  const bool rest_by_forming = questions.any_instances() || form_flops < norm_flops + linear_flops;
  const double gram_positions_flops = 2 * N * N * T * T * (I + J);
  const bool gram_by_forming =
      questions.any_instances() ||
      form_flops + 2 * N * N * I * J < gram_positions_flops + (questions.sum ? sum_flops : 0.0);

  Questions formed;
  formed.scratch_bytes = questions.scratch_bytes;
  formed.share = questions.share;
  formed.second = questions.second;
  formed.dense = questions.dense;
  formed.gram = questions.gram && gram_by_forming;
  formed.histograms = questions.histograms;
  formed.joint_histograms = questions.joint_histograms;
  formed.value_bins = questions.value_bins;
  formed.norms = questions.norms && (rest_by_forming || formed.gram);
  formed.mean_dots = questions.mean_dots;
  formed.deviations = questions.deviations;
  formed.variance = questions.variance;
  const bool forms = formed.any_instances() || formed.gram || formed.norms;
  formed.sum = questions.sum && forms;

  Answers answers;
  if (forms) answers = answer_by_instances(instances, formed);
  const auto add_algorithm = [&answers](const char* what) {
    answers.algorithm += answers.algorithm.empty() ? what : std::string("; ") + what;
  };
  if (questions.sum && !formed.sum) {
    const Tensor total = K() == 1 ? b_ : b_.view({K(), -1, b_.size(1), b_.size(2)}).sum(0);
    answers.sum = at::mm(a_.reshape({-1, a_.size(2)}).t(), total.reshape({-1, b_.size(2)}));
    if (questions.share != 1) answers.sum.mul_(questions.share);
  }
  if (questions.gram && !formed.gram) {
    answers.gram = gram_by_positions(questions.scratch_bytes);
    add_algorithm("pairwise products by Gram over positions");
  }
  if (questions.norms && !formed.norms) {
    answers.norms = answers.gram.defined()
                        ? norms_from_gram(answers.gram)
                        : norms_by_gram(repeated_a(), b_, questions.scratch_bytes);
    add_algorithm("norms by Gram over positions");
  }
  if (answers.algorithm.empty()) answers.algorithm = "one product";
  return answers;
}

Tensor OuterForm::gram_by_positions(int64_t scratch_bytes) const {
  const int64_t T = a_.size(1);
  const Tensor flat_a = repeated_a().reshape({-1, a_.size(2)});  // [N*T, I]
  const Tensor flat_b = b_.reshape({-1, b_.size(2)});
  const int64_t piece = rows_per_piece({2, T, N() * T}, a_.options(), scratch_bytes);
  std::vector<Tensor> bands;
  for (int64_t begin = 0; begin < N(); begin += piece) {
    const int64_t count = std::min(piece, N() - begin);
    Tensor products = at::mm(flat_a.slice(0, begin * T, (begin + count) * T), flat_a.t());
    products.mul_(at::mm(flat_b.slice(0, begin * T, (begin + count) * T), flat_b.t()));
    bands.push_back(products.view({count, T, N(), T}).sum({1, 3}));
  }
  return bands.size() == 1 ? bands[0] : at::cat(bands);
}

Tensor OuterForm::dots(const Tensor& directions) const {
  // <A_nᵀ B_n, V> = sum_t <A_n V, B_n>_t: one product per direction, no rows.
  std::vector<Tensor> columns;
  const Tensor flat_a = a_.reshape({-1, a_.size(2)});
  for (const Tensor& direction : directions.unbind(0)) {
    const Tensor mapped = at::mm(flat_a, direction).view({a_.size(0), b_.size(1), b_.size(2)});
    const Tensor products = b_.view({K(), a_.size(0), b_.size(1), b_.size(2)}).mul(mapped);
    columns.push_back(products.sum({2, 3}).view({-1}));
  }
  return at::stack(columns, 1);
}

Tensor OuterForm::combine(const Tensor& coefficients) const {
  std::vector<Tensor> combined;
  const Tensor flat_a = a_.reshape({-1, a_.size(2)});
  for (const Tensor& c : coefficients.to(b_.scalar_type()).unbind(0)) {
    Tensor weighted = b_.mul(c.view({-1, 1, 1}));
    if (K() > 1) weighted = weighted.view({K(), -1, b_.size(1), b_.size(2)}).sum(0);
    combined.push_back(at::mm(flat_a.t(), weighted.reshape({-1, b_.size(2)})));
  }
  return at::stack(combined);
}

Tensor OuterForm::dense(int64_t begin, int64_t end) const {
  const Tensor a =
      K() == 1
          ? a_.slice(0, begin, end)
          : a_.index_select(
                0, at::arange(begin, end, a_.options().dtype(at::kLong)).remainder_(a_.size(0)));
  const Tensor b = b_.slice(0, begin, end);
  if (a.size(1) == 1) return a.transpose(1, 2).mul(b);
  return at::bmm(a.transpose(1, 2), b);
}

std::shared_ptr<const Form> OuterForm::select(const Tensor& index) const {
  const Tensor samples = K() == 1 ? index : index.remainder(a_.size(0));
  return std::make_shared<OuterForm>(a_.index_select(0, samples), b_.index_select(0, index));
}

std::shared_ptr<const Form> OuterForm::with_factors(std::vector<Tensor> factors) const {
  return std::make_shared<OuterForm>(std::move(factors[0]), std::move(factors[1]));
}

std::shared_ptr<const Form> OuterForm::plus(const FormList& others) const {
  // A sum over uses is a sum over more positions.
  std::vector<Tensor> a{a_}, b{b_};
  for (const auto& other : others) {
    const auto* outer = dynamic_cast<const OuterForm*>(other.get());
    if (!outer || outer->shape_ != shape_ || outer->K() != 1 || K() != 1) return nullptr;
    a.push_back(outer->a_);
    b.push_back(outer->b_);
  }
  return std::make_shared<OuterForm>(at::cat(a, 1), at::cat(b, 1));
}

std::shared_ptr<const Form> OuterForm::followed_by(const FormList& others) const {
  bool shares = true;
  std::vector<Tensor> a{repeated_a()}, b{b_};
  for (const auto& other : others) {
    const auto* outer = dynamic_cast<const OuterForm*>(other.get());
    if (!outer || outer->shape_ != shape_ || outer->a_.size(1) != a_.size(1)) {
      return Form::followed_by(others);
    }
    shares = shares && is_same_memory(outer->a_, a_);
    a.push_back(outer->repeated_a());
    b.push_back(outer->b_);
  }
  return std::make_shared<OuterForm>(shares ? a_ : at::cat(a), at::cat(b));
}

}  // namespace flightdeck

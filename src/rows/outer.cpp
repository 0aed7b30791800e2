// SPDX-License-Identifier: MIT
#include "rows/outer.h"

#include <algorithm>
#include <vector>

#include <ATen/ATen.h>

#include "rows/instances.h"

namespace flightdeck {
namespace {

// Batched products of small matrices reach 25 to 64 GFLOP/s on two CPU cores where the fused kernel
// or one large product reaches about 185 (bench/patch_products_bench.cpp).
constexpr double kBatchedProductPenalty = 6.0;

// Tells what a linear layer on a sequence answers without forming its rows.
class OuterPositions final : public Positions {
 public:
  OuterPositions(const Tensor& a, const Tensor& b) : a_(a), b_(b) {
    N = b.size(0);
    T = a.size(1);
    I = a.size(2);
    J = b.size(2);
    const double penalty = a.is_cpu() ? kBatchedProductPenalty : 1.0;
    form_flops = sum_flops() * (fused_kernel_pays(a.options(), J) ? 1.0 : penalty);
    norms_flops = gram_norm_flops(N, T, I, J, a.is_cpu());
    gram_flops = 2.0 * double(N) * double(N) * double(T) * double(T) * double(I + J);
  }

  Tensor sum() const override {
    const Tensor total = K() == 1 ? b_ : columns().sum(0);
    return at::mm(a_.reshape({-1, I}).t(), total.reshape({-1, J}));
  }

  // Uses <A_nᵀ B_n, V> = sum_t <A_n V, B_n>_t: one product per direction.
  Tensor dots(const Tensor& directions) const override {
    std::vector<Tensor> all;
    const Tensor flat_a = a_.reshape({-1, I});
    for (const Tensor& direction : directions.unbind(0)) {
      const Tensor mapped = at::mm(flat_a, direction).view({a_.size(0), T, J});
      all.push_back(columns().mul(mapped).sum({2, 3}).view({-1}));
    }
    return at::stack(all, 1);
  }

  Tensor norms(int64_t scratch_bytes) const override {
    return norms_by_gram(a_of_rows(), b_, scratch_bytes);
  }

 private:
  int64_t K() const { return N / a_.size(0); }
  Tensor columns() const { return b_.view({K(), a_.size(0), T, J}); }
  Tensor a_of_rows() const { return K() == 1 ? a_ : a_.repeat({K(), 1, 1}); }

  Tensor compute_gram(int64_t scratch_bytes) const override {
    const Tensor flat_a = a_of_rows().reshape({-1, I});  // [N*T, I]
    const Tensor flat_b = b_.reshape({-1, J});
    const int64_t piece = rows_per_piece({2, T, N * T}, a_.options(), scratch_bytes);
    std::vector<Tensor> bands;
    for (int64_t begin = 0; begin < N; begin += piece) {
      const int64_t count = std::min(piece, N - begin);
      Tensor products = at::mm(flat_a.slice(0, begin * T, (begin + count) * T), flat_a.t());
      products.mul_(at::mm(flat_b.slice(0, begin * T, (begin + count) * T), flat_b.t()));
      bands.push_back(products.view({count, T, N, T}).sum({1, 3}));
    }
    return bands.size() == 1 ? bands[0] : at::cat(bands);
  }

  const Tensor &a_, &b_;
};

// Takes out the answers that are worth a look at the rows only if others look at them.
Asked take_followers(Asked& asked) {
  const auto first = std::stable_partition(
      asked.begin(), asked.end(), [](const Answer* answer) { return !answer->follows_others(); });
  Asked followers(first, asked.end());
  asked.erase(first, asked.end());
  return followers;
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

OuterForm::OuterForm(Tensor a, Tensor b, bool is_padded)
    : a_(in_row_precision(a)),
      b_(in_row_precision(b)),
      shape_{a.size(2), b.size(2)},
      is_padded_(is_padded) {
  TORCH_INTERNAL_ASSERT(b_.size(0) % std::max<int64_t>(1, a_.size(0)) == 0 &&
                        a_.size(1) == b_.size(1));
  if (a_.scalar_type() != b_.scalar_type()) {
    const auto dtype = at::promote_types(a_.scalar_type(), b_.scalar_type());
    a_ = a_.to(dtype);
    b_ = b_.to(dtype);
  }
}

Tensor OuterForm::repeated_a() const { return K() == 1 ? a_ : a_.repeat({K(), 1, 1}); }

Answers OuterForm::answer(const Asked& asked, const Questions& questions) const {
  if (a_.size(1) == 1) return answer_single_position(asked, questions);
  Answers answers =
      answer_positions(OuterPositions(a_, b_), asked, questions, [&](const Asked& formed) {
        const Instances instances{a_.transpose(1, 2), 1, b_};
        Answers of_rows;
        Sweep sweep(formed, questions, instances.size());
        of_rows.algorithm = sweep_instances(instances, questions.scratch_bytes, sweep);
        sweep.finish(shape_, of_rows);
        return of_rows;
      });
  if (answers.algorithm.empty()) answers.algorithm = "one product";
  return answers;
}

Answers OuterForm::answer_single_position(const Asked& asked, const Questions& questions) const {
  Answers answers;
  answers.algorithm = "one position: products of factor norms, Gram matrices and squares";
  const Products products(a_.squeeze(1), b_.squeeze(1));
  const Asked rest = answer_each(
      asked,
      [&](const Answer& answer) { return answer.from_products(products, questions); },
      answers);
  answer_written(*this, rest, questions, answers);
  return answers;
}

Answers answer_positions(const Positions& positions,
                         const Asked& asked,
                         const Questions& questions,
                         const std::function<Answers(const Asked& asked)>& form) {
  Asked formed = asked;
  Asked followers = take_followers(formed);
  double from_factors = 0, from_rows = positions.form_flops;
  for (const Answer* answer : formed) {
    from_factors += answer->flops_from_positions(positions, questions);
    from_rows += answer->flops_on_rows(positions);
  }
  Asked direct;
  if (!(from_rows < from_factors)) std::swap(direct, formed);
  Asked& of_followers = reads_rows(formed) ? formed : direct;
  of_followers.insert(of_followers.end(), followers.begin(), followers.end());
  Answers answers;
  if (!formed.empty()) answers = form(formed);
  answer_each(
      direct,
      [&](const Answer& answer) { return answer.from_positions(positions, questions); },
      answers);
  for (const Answer* answer : direct) {
    if (!answer->route_over_positions()) continue;
    answers.algorithm += (answers.algorithm.empty() ? "" : "; ");
    answers.algorithm += answer->route_over_positions();
  }
  return answers;
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
  return std::make_shared<OuterForm>(
      a_.index_select(0, samples), b_.index_select(0, index), is_padded_);
}

std::shared_ptr<const Form> OuterForm::with_factors(std::vector<Tensor> factors) const {
  return std::make_shared<OuterForm>(std::move(factors[0]), std::move(factors[1]), is_padded_);
}

std::shared_ptr<const Form> OuterForm::plus(const FormList& others) const {
  // A sum over uses is a sum over more positions.
  std::vector<Tensor> a{a_}, b{b_};
  bool is_padded = is_padded_;
  for (const auto& other : others) {
    const auto* outer = dynamic_cast<const OuterForm*>(other.get());
    if (!outer || outer->shape_ != shape_ || outer->K() != 1 || K() != 1) return nullptr;
    is_padded = is_padded || outer->is_padded_;
    a.push_back(outer->a_);
    b.push_back(outer->b_);
  }
  return std::make_shared<OuterForm>(at::cat(a, 1), at::cat(b, 1), is_padded);
}

// Adds up (A²)ᵀ B_k² over columns that share A: one product, with the sum of the small factors.
Tensor OuterForm::squares_with(const FormList& others, double share, bool is_for_trace) const {
  if (is_for_trace || a_.size(1) != 1 || K() != 1 || !a_.is_cpu()) return {};
  for (const auto& other : others) {
    const auto* outer = dynamic_cast<const OuterForm*>(other.get());
    if (!outer || !is_same_memory(outer->a_, a_) || outer->b_.sizes() != b_.sizes()) return {};
  }
  Tensor squares = b_.square();
  for (const auto& other : others) {
    const Tensor& b = static_cast<const OuterForm&>(*other).b_;
    squares.addcmul_(b, b);
  }
  return at::mm(a_.squeeze(1).square().t(), squares.squeeze(1).mul_(share));
}

std::shared_ptr<const Form> OuterForm::followed_by(const FormList& others) const {
  bool shares = true, is_padded = is_padded_;
  std::vector<Tensor> a{repeated_a()}, b{b_};
  for (const auto& other : others) {
    const auto* outer = dynamic_cast<const OuterForm*>(other.get());
    if (!outer || outer->shape_ != shape_ || outer->a_.size(1) != a_.size(1)) {
      return Form::followed_by(others);
    }
    shares = shares && is_same_memory(outer->a_, a_);
    is_padded = is_padded || outer->is_padded_;
    a.push_back(outer->repeated_a());
    b.push_back(outer->b_);
  }
  return std::make_shared<OuterForm>(shares ? a_ : at::cat(a), at::cat(b), is_padded);
}

}  // namespace flightdeck

// SPDX-License-Identifier: MIT
#include "flightdeck/vivit.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <ATen/ATen.h>

#include "curvature/columns_pass.h"
#include "curvature/context.h"
#include "curvature/eigh.h"

namespace flightdeck {
namespace {

// What holds the rows of a stack in memory.
int64_t factor_bytes(const Rows& rows) {
  int64_t bytes = 0;
  for (const auto& term : rows.terms()) {
    const Tensor b = term.form->position_gradients();
    const int64_t entries = b.defined() ? b.numel() : rows.N() * product(term.form->shape());
    bytes += entries * static_cast<int64_t>(term.form->options().dtype().itemsize());
  }
  return bytes;
}

// Stacks that enter together, one after the other: each is zero where the other has its columns.
std::vector<Seed> join(const std::vector<Seed>& a, const std::vector<Seed>& b) {
  const int64_t columns_a = a[0].stack.size(0), columns_b = b[0].stack.size(0);
  std::vector<Seed> all;
  const auto add = [&all](const std::vector<Seed>& seeds, int64_t before, int64_t after) {
    for (Seed seed : seeds) {
      Shape sizes = seed.stack.sizes().vec();
      sizes[0] += before + after;
      Tensor wide = at::zeros(sizes, seed.stack.options());
      wide.narrow(0, before, seed.stack.size(0)).copy_(seed.stack);
      seed.stack = wide;
      all.push_back(seed);
    }
  };
  add(a, 0, columns_b);
  add(b, columns_a, 0);
  return all;
}

}  // namespace

// The columns are those of the loss factor, then (if asked for) the gradient as one more. Rows of
// the Gram matrix are columns x samples, restricted to the chosen samples.
class Vivit::State {
 public:
  State(const Batch& batch, const VivitOptions& options)
      : options_(options),
        context_(batch, CurvatureFrom::kRows),
        pass_(context_.linearisation(), batch.parameters(), {}, nullptr) {
    check_options();
    set_groups();
    const Loss& loss = context_.loss();
    if (is_sampled()) {
      at::Generator generator = at::detail::createCPUGenerator(options_.seed);
      sampled_ = loss.sample(options_.mc_samples, generator);
    }
    K_ = is_sampled() ? options_.mc_samples : loss.columns();
    gather();
    context_.remark_one_by_one();
  }

  struct Spectrum {
    Tensor values, vectors;  // the largest value first; vectors in columns
    int64_t rank = -1;
  };

  size_t groups() const { return groups_.size(); }
  const std::vector<std::string>& remarks() const { return context_.remarks(); }

  Tensor gram(size_t group) const {
    return whole(group).slice(0, 0, R()).slice(1, 0, R()) / double(S());
  }
  Tensor gradient_gram(size_t group) const {
    check_gradients();
    return whole(group).slice(0, R()).slice(1, R());
  }

  Tensor gram_eigenvalues(size_t group) const {
    Spectrum& spectrum = spectra_.at(group);
    if (!spectrum.values.defined()) {
      spectrum.values = eigenvalues_of(gram(group)).flip(0).clamp_min_(0);
    }
    return spectrum.values;
  }

  int64_t rank(size_t group) const {
    check_group(group);
    Spectrum& spectrum = spectra_[group];
    if (spectrum.rank >= 0) return spectrum.rank;
    const Tensor values = gram_eigenvalues(group);
    const double rounding = values.scalar_type() == at::kDouble
                                ? std::numeric_limits<double>::epsilon()
                                : std::numeric_limits<float>::epsilon();
    const double tolerance =
        options_.rank_tolerance >= 0 ? options_.rank_tolerance : rounding * double(R()) * 4;
    const double largest = values.numel() > 0 ? values.max().item<double>() : 0;
    spectrum.rank = (values > tolerance * largest).sum().item<int64_t>();
    return spectrum.rank;
  }

  // Eigenvalues [R] and eigenvectors [R, R] in columns, of the whole Gram matrix.
  const Spectrum& decomposed(size_t group) const {
    check_group(group);
    Spectrum& spectrum = spectra_[group];
    if (!spectrum.vectors.defined()) {
      const auto [values, vectors] = eigh(gram(group));  // ascending, as LibTorch has it
      // Values that were handed out stay as they are to the bit: a caller may choose by them.
      if (!spectrum.values.defined()) spectrum.values = values.flip(0).clamp_min_(0);
      spectrum.vectors = vectors.flip(1);
    }
    return spectrum;
  }

  // Eigenvalues [count] and coefficients [count, R] of these eigenvectors.
  std::pair<Tensor, Tensor> chosen(const Directions& which, size_t group) const {
    const std::vector<int64_t> positions =
        which.positions(gram_eigenvalues(group).slice(0, 0, rank(group)));
    const Spectrum& spectrum = decomposed(group);
    const Tensor index = at::tensor(positions, at::kLong).to(spectrum.values.device());
    return {spectrum.values.index_select(0, index), spectrum.vectors.index_select(1, index).t()};
  }

  Tensor gammas(const Directions& which, size_t group) const {
    check_gradients();
    const auto [values, coefficients] = chosen(which, group);
    return slopes(values, coefficients, group);
  }

  // g_n·e_k, [G, count].
  Tensor slopes(const Tensor& values, const Tensor& coefficients, size_t group) const {
    const Tensor cross = whole(group).slice(0, R()).slice(1, 0, R()) / std::sqrt(double(S()));
    return at::mm(cross, coefficients.t()) / values.sqrt();
  }

  Tensor lambdas(const Directions& which, size_t group) const {
    const auto [values, coefficients] = chosen(which, group);
    const Tensor squares = coefficients.reshape({-1, K_, S()}).square().sum(1);  // [count, S]
    return squares.t() * values * double(S());
  }

  std::vector<Tensor> eigenvectors(const Directions& which, size_t group) const {
    const auto [values, coefficients] = chosen(which, group);
    const Tensor scaled = coefficients / (values * double(S())).sqrt().unsqueeze(1);
    return combine(with_gradients(scaled, Tensor()), group);
  }

  std::vector<Tensor> newton_step(const Tensor& damping,
                                  const Directions& which,
                                  bool trivial,
                                  size_t group) const {
    check_gradients();
    const auto [values, coefficients] = chosen(which, group);
    const Tensor d = damping.to(values.options()).reshape({-1});
    const int64_t count = values.size(0);
    TORCH_CHECK_VALUE(d.numel() == 1 || d.numel() == count + (trivial ? 1 : 0),
                      "vivit: damping has ",
                      damping.numel(),
                      " entries for ",
                      count,
                      trivial ? " directions and the trivial ones" : " directions",
                      "; give one entry, or one per direction",
                      trivial ? " and one for the rest" : "");
    const Tensor of_rest = d.slice(0, d.numel() - 1);
    TORCH_CHECK_VALUE(!trivial || of_rest.item<double>() > 0,
                      "vivit: damping is ",
                      of_rest.item<double>(),
                      " but directions without curvature need a positive one; raise it, or leave "
                      "them out with trivial = false");
    const Tensor gamma = slopes(values, coefficients, group).mean(0);
    Tensor along = -gamma / (values + (d.numel() == 1 ? d : d.slice(0, 0, count)));
    Tensor gradient_part;
    if (trivial) {
      along = along + gamma / of_rest;  // the rest of the gradient goes with 1 / damping
      gradient_part = at::full({1, G()}, 1.0 / double(G()), values.options()) * (-1 / of_rest);
    }
    const Tensor scaled = along / (values * double(S())).sqrt();
    std::vector<Tensor> step =
        combine(with_gradients(at::mm(scaled.unsqueeze(0), coefficients), gradient_part), group);
    for (Tensor& part : step) part = part.squeeze(0);
    return step;
  }

  int64_t dim(size_t group) const {
    check_group(group);
    int64_t entries = 0;
    for (size_t p : groups_[group]) entries += context_.parameters()[p].tensor.numel();
    return entries;
  }
  at::TensorOptions vector_options() const { return grams_[0].options(); }

  // (v - V U (Λ + damping)^-1 Uᵀ Vᵀ v / S) / damping, with VᵀV / S = U Λ Uᵀ.
  Tensor inverse_product(const Tensor& vectors, double damping, size_t group) const {
    TORCH_CHECK_VALUE(vectors.dim() == 2 && vectors.size(1) == dim(group),
                      "vivit inverse: vectors have shape ",
                      vectors.sizes(),
                      " but must be [V, D] with D = ",
                      dim(group),
                      ", the entries of the parameters of group ",
                      group,
                      "; flatten and concatenate them");
    const Spectrum& spectrum = decomposed(group);
    const Tensor v = vectors.detach().to(vector_options());
    const Tensor along = at::mm(inner_products(v, group).t(), spectrum.vectors);  // [V, R]
    const Tensor scaled = along / ((spectrum.values + damping) * double(S()));
    const Tensor coefficients = at::mm(scaled, spectrum.vectors.t());
    std::vector<Tensor> parts;
    for (const Tensor& part : combine(with_gradients(coefficients, Tensor()), group)) {
      parts.push_back(part.flatten(1).to(v.options()));
    }
    return (v - at::cat(parts, 1)) / damping;
  }

 private:
  struct Range {
    int64_t begin, end;  // columns; the gradient is column K
    int64_t size() const { return end - begin; }
  };

  bool is_sampled() const { return options_.columns == LossColumns::kSampled; }
  int64_t S() const { return context_.count(); }
  int64_t G() const {
    if (!options_.gradients) return 0;
    return options_.gradient_samples.empty()
               ? context_.capture().N
               : static_cast<int64_t>(options_.gradient_samples.size());
  }
  int64_t R() const { return K_ * S(); }

  const Tensor& whole(size_t group) const {
    check_group(group);
    return grams_[group];
  }

  void check_group(size_t group) const {
    TORCH_CHECK_INDEX(group < groups_.size(),
                      "vivit: group ",
                      group,
                      " asked for but there are ",
                      groups_.size(),
                      "; count from 0 in the order of options.groups");
  }

  void check_gradients() const {
    TORCH_CHECK_VALUE(options_.gradients,
                      "vivit: directional gradients need individual gradients, but "
                      "options.gradients is false; set it to true");
  }

  void check_options() const {
    TORCH_CHECK_VALUE(options_.mc_samples > 0,
                      "vivit: options.mc_samples is ",
                      options_.mc_samples,
                      " but must be at least 1; leave it at 1 for exact columns");
    check_samples(context_.capture(), options_.gradient_samples, "vivit", "gradient_samples");
  }

  void set_groups() {
    const size_t count = context_.parameters().size();
    groups_ = options_.groups;
    if (groups_.empty()) {
      groups_.emplace_back();
      for (size_t p = 0; p < count; ++p) groups_[0].push_back(p);
    }
    group_of_.assign(count, -1);
    for (size_t g = 0; g < groups_.size(); ++g) {
      for (size_t p : groups_[g]) {
        TORCH_CHECK_INDEX(p < count && group_of_[p] < 0,
                          "vivit: options.groups names parameter ",
                          p,
                          p < count ? " twice, the second time in group " : " in group ",
                          g,
                          " but there are ",
                          count,
                          " parameters, each for one group; count from 0 in the order given");
        group_of_[p] = static_cast<int64_t>(g);
      }
    }
    wanted_.resize(count);
    for (size_t p = 0; p < count; ++p) wanted_[p] = group_of_[p] >= 0;
    spectra_.resize(groups_.size());
  }

  int64_t columns() const { return K_ + (options_.gradients ? 1 : 0); }

  std::vector<Seed> seeds(Range range) const {
    std::vector<Seed> own;
    const int64_t end = std::min(range.end, K_);
    if (range.begin < end) {
      if (is_sampled()) {
        own = sampled_;
        for (Seed& seed : own) seed.stack = seed.stack.slice(0, range.begin, end);
      } else {
        own = context_.loss().factor(range.begin, end);
      }
    }
    if (range.end <= K_) return own;
    const std::vector<Seed> gradient = context_.gradient_seeds();
    return own.empty() ? gradient : join(own, gradient);
  }

  // Rows of the columns in `range` that count: those of the chosen samples.
  Rows choose(const Rows& stacked, Range range) const {
    const bool all =
        context_.samples().empty() && (range.end <= K_ || options_.gradient_samples.empty());
    if (all) return stacked;
    const int64_t N = context_.capture().N;
    std::vector<int64_t> index;
    for (int64_t k = range.begin; k < range.end; ++k) {
      const auto& chosen = k < K_ ? context_.samples() : options_.gradient_samples;
      const int64_t first = (k - range.begin) * N;
      for (int64_t n = 0; chosen.empty() && n < N; ++n) index.push_back(first + n);
      for (int64_t n : chosen) index.push_back(first + n);
    }
    const auto device = stacked.terms()[0].form->options().device();
    return stacked.select(at::tensor(index, at::kLong).to(device));
  }

  // Where the rows of a range start in the Gram matrix, and how many there are.
  int64_t first_row(Range range) const { return range.begin * S(); }
  int64_t row_count(Range range) const {
    const int64_t factor_columns = std::min(range.end, K_) - range.begin;
    return factor_columns * S() + (range.end > K_ ? G() : 0);
  }

  std::vector<Range> pieces(int64_t share) const {
    const int64_t piece = pass_.columns_at_once(context_.memory().stack_bytes / share);
    std::vector<Range> ranges;
    for (int64_t begin = 0; begin < columns(); begin += piece) {
      ranges.push_back({begin, std::min(begin + piece, columns())});
    }
    return ranges;
  }

  void gather() {
    const Tensor& first = context_.parameters()[0].tensor;
    const auto options = first.options().requires_grad(false).dtype(
        first.scalar_type() == at::kDouble ? at::kDouble : at::kFloat);
    for (size_t g = 0; g < groups_.size(); ++g) {
      grams_.push_back(at::zeros({R() + G(), R() + G()}, options));
    }
    kept_.resize(context_.parameters().size());
    std::vector<Range> ranges = pieces(1);
    if (ranges.size() == 1) {
      gather_whole(ranges[0]);
      return;
    }
    is_kept_ = false;
    ranges = pieces(2);  // two at a time
    for (size_t i = 0; i < ranges.size(); ++i) {
      for (size_t j = i; j < ranges.size(); ++j) gather_pair(ranges[i], ranges[j]);
    }
  }

  Questions gram_question() const {
    Questions questions;
    questions.what = Need::kGram;
    questions.scratch_bytes = context_.memory().scratch_bytes;
    return questions;
  }

  void gather_whole(Range range) {
    int64_t bytes = 0;
    pass_.run(
        seeds(range),
        [&](size_t p, const std::vector<Rows>& rows) {
          const Rows stacked = choose(Rows::stack(rows), range);
          grams_[group_of_[p]] += stacked.answer(gram_question()).gram;
          bytes += factor_bytes(stacked);
          if (bytes > context_.memory().keep_bytes) is_kept_ = false;
          if (is_kept_) kept_[p] = stacked;
        },
        wanted_);
    if (!is_kept_) kept_.assign(kept_.size(), {});
  }

  void gather_pair(Range a, Range b) {
    const bool is_same = a.begin == b.begin;
    const int64_t rows_a = row_count(a), rows_b = row_count(b);
    pass_.run(
        is_same ? seeds(a) : join(seeds(a), seeds(b)),
        [&](size_t p, const std::vector<Rows>& columns) {
          const std::vector<Rows> left(columns.begin(), columns.begin() + a.size());
          const Tensor& gram = grams_[group_of_[p]];
          if (is_same) {
            block(gram, a, a) += choose(Rows::stack(left), a).answer(gram_question()).gram;
            return;
          }
          const std::vector<Rows> right(columns.begin() + a.size(), columns.end());
          const Rows pair =
              Rows::stack({choose(Rows::stack(left), a), choose(Rows::stack(right), b)});
          const Tensor cross =
              pair.answer(gram_question()).gram.slice(0, 0, rows_a).slice(1, rows_a);
          TORCH_INTERNAL_ASSERT(cross.size(1) == rows_b);
          block(gram, a, b) += cross;
          block(gram, b, a) += cross.t();
        },
        wanted_);
  }

  Tensor block(const Tensor& gram, Range a, Range b) const {
    return gram.narrow(0, first_row(a), row_count(a)).narrow(1, first_row(b), row_count(b));
  }

  // [M, R] and [M, G] (or zero) as coefficients of all rows.
  Tensor with_gradients(const Tensor& coefficients, const Tensor& of_gradients) const {
    if (G() == 0) return coefficients;
    const Tensor rest = of_gradients.defined()
                            ? of_gradients
                            : at::zeros({coefficients.size(0), G()}, coefficients.options());
    return at::cat({coefficients, rest}, 1);
  }

  // Vᵀv for vectors [V, D] of the group, [R, V].
  Tensor inner_products(const Tensor& vectors, size_t group) const {
    std::vector<Tensor> directions(context_.parameters().size());
    int64_t begin = 0;
    for (size_t p : groups_[group]) {
      const Tensor& parameter = context_.parameters()[p].tensor;
      directions[p] = vectors.slice(1, begin, begin + parameter.numel())
                          .reshape(with_lead(vectors.size(0), parameter.sizes().vec()))
                          .to(parameter.scalar_type());
      begin += parameter.numel();
    }
    Tensor total = at::zeros({R() + G(), vectors.size(0)}, vectors.options());
    const auto add = [&](size_t p, const Rows& rows, int64_t first) {
      Questions questions;
      questions.what = Need::kDots;
      questions.directions = directions[p];
      questions.scratch_bytes = context_.memory().scratch_bytes;
      total.narrow(0, first, rows.N()) += rows.answer(questions).dots;
    };
    if (is_kept_) {
      for (size_t p : groups_[group]) {
        if (!kept_[p].empty()) add(p, kept_[p], 0);
      }
    } else {
      for (Range range : pieces(1)) {
        pass_.run(
            seeds(range),
            [&](size_t p, const std::vector<Rows>& rows) {
              add(p, choose(Rows::stack(rows), range), first_row(range));
            },
            wanted_in(group));
      }
    }
    return total.slice(0, 0, R());
  }

  std::vector<bool> wanted_in(size_t group) const {
    std::vector<bool> wanted(wanted_.size(), false);
    for (size_t p : groups_[group]) wanted[p] = true;
    return wanted;
  }

  std::vector<Tensor> combine(const Tensor& coefficients, size_t group) const {
    std::vector<Tensor> combined(context_.parameters().size());
    if (is_kept_) {
      for (size_t p : groups_[group]) {
        if (!kept_[p].empty()) combined[p] = kept_[p].combine(coefficients);
      }
    } else {
      const std::vector<bool> wanted = wanted_in(group);
      for (Range range : pieces(1)) {
        const Tensor part = coefficients.narrow(1, first_row(range), row_count(range));
        pass_.run(
            seeds(range),
            [&](size_t p, const std::vector<Rows>& rows) {
              const Tensor sum = choose(Rows::stack(rows), range).combine(part);
              combined[p] = combined[p].defined() ? combined[p] + sum : sum;
            },
            wanted);
      }
    }
    std::vector<Tensor> result;
    for (size_t p : groups_[group]) {
      Shape shape = context_.parameters()[p].tensor.sizes().vec();
      shape.insert(shape.begin(), coefficients.size(0));
      result.push_back(combined[p].defined() ? combined[p]
                                             : at::zeros(shape, coefficients.options()));
    }
    return result;
  }

  VivitOptions options_;
  mutable CurvatureContext context_;
  mutable ColumnsPass pass_;
  int64_t K_ = 0;
  std::vector<Seed> sampled_;
  std::vector<std::vector<size_t>> groups_;
  std::vector<int64_t> group_of_;  // of each parameter, or -1
  std::vector<bool> wanted_;
  std::vector<Tensor> grams_;  // [R + G, R + G], rows without factor 1/N
  std::vector<Rows> kept_;
  bool is_kept_ = true;
  mutable std::vector<Spectrum> spectra_;
};

namespace {

class VivitInverse final : public LinearOperator {
 public:
  VivitInverse(std::shared_ptr<const Vivit::State> state, double damping, size_t group)
      : state_(std::move(state)), damping_(damping), group_(group) {}
  int64_t dim() const override { return state_->dim(group_); }
  at::TensorOptions options() const override { return state_->vector_options(); }
  Tensor multiply(const Tensor& vectors) const override {
    return with_curvature_remedies(
        [&] { return state_->inverse_product(vectors, damping_, group_); });
  }

 private:
  std::shared_ptr<const Vivit::State> state_;
  double damping_;
  size_t group_;
};

}  // namespace

Vivit::Vivit(const Batch& batch, const VivitOptions& options) {
  with_curvature_remedies([&] { state_ = std::make_shared<State>(batch, options); });
}
Vivit::Vivit(const Tensor& losses, const Parameters& parameters, const VivitOptions& options)
    : Vivit(Batch(losses, parameters), options) {}
Vivit::~Vivit() = default;
Vivit::Vivit(Vivit&&) noexcept = default;
Vivit& Vivit::operator=(Vivit&&) noexcept = default;

size_t Vivit::groups() const { return state_->groups(); }
int64_t Vivit::rank(size_t group) const {
  return with_curvature_remedies([&] { return state_->rank(group); });
}
Tensor Vivit::gram(size_t group) const {
  return with_curvature_remedies([&] { return state_->gram(group); });
}
Tensor Vivit::gradient_gram(size_t group) const {
  return with_curvature_remedies([&] { return state_->gradient_gram(group).clone(); });
}
Tensor Vivit::gram_eigenvalues(size_t group) const {
  return with_curvature_remedies([&] {
    state_->rank(group);  // checks the group
    return state_->gram_eigenvalues(group);
  });
}
Tensor Vivit::eigenvalues(size_t group) const {
  return with_curvature_remedies([&] {
    const int64_t rank = state_->rank(group);
    return state_->gram_eigenvalues(group).slice(0, 0, rank);
  });
}
std::vector<Tensor> Vivit::eigenvectors(const Directions& which, size_t group) const {
  return with_curvature_remedies([&] { return state_->eigenvectors(which, group); });
}
Tensor Vivit::gammas(const Directions& which, size_t group) const {
  return with_curvature_remedies([&] { return state_->gammas(which, group); });
}
Tensor Vivit::lambdas(const Directions& which, size_t group) const {
  return with_curvature_remedies([&] { return state_->lambdas(which, group); });
}
Tensor Vivit::signal_to_noise(const Tensor& per_sample) {
  const Tensor values = per_sample.to(at::kDouble);
  return values.mean(0).square() / values.var(0, /*unbiased=*/true);
}
std::vector<Tensor> Vivit::newton_step(const Tensor& damping,
                                       const Directions& which,
                                       bool trivial,
                                       size_t group) const {
  return with_curvature_remedies(
      [&] { return state_->newton_step(damping, which, trivial, group); });
}
std::shared_ptr<const LinearOperator> Vivit::inverse(double damping, size_t group) const {
  TORCH_CHECK_VALUE(damping > 0,
                    "vivit inverse: damping is ",
                    damping,
                    " but the GGN has directions without curvature; give a positive one");
  static_cast<void>(state_->dim(group));  // checks the group
  return std::make_shared<VivitInverse>(state_, damping, group);
}
const std::vector<std::string>& Vivit::remarks() const { return state_->remarks(); }

}  // namespace flightdeck

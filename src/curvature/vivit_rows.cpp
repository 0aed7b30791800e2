// SPDX-License-Identifier: MIT
#include "curvature/vivit_rows.h"

#include <algorithm>

#include <ATen/ATen.h>

#include "rules/stacks.h"

namespace flightdeck {
namespace {

// Counts what the rows of a stack hold in memory.
int64_t factor_bytes(const Rows& rows) {
  int64_t bytes = 0;
  for (const auto& term : rows.terms()) {
    const Tensor b = term.form->position_gradients();
    const int64_t entries = b.defined() ? b.numel() : rows.N() * product(term.form->shape());
    bytes += entries * static_cast<int64_t>(term.form->options().dtype().itemsize());
  }
  return bytes;
}

// Joins stacks that enter together, one after the other: each is zero where the other has its
// columns.
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

VivitRows::VivitRows(const Batch& batch, const VivitOptions& options)
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

int64_t VivitRows::G() const {
  if (!options_.gradients) return 0;
  return options_.gradient_samples.empty() ? context_.capture().N
                                           : static_cast<int64_t>(options_.gradient_samples.size());
}

const Tensor& VivitRows::gram(size_t group) const {
  check_group(group);
  return grams_[group];
}

int64_t VivitRows::dim(size_t group) const {
  check_group(group);
  int64_t entries = 0;
  for (size_t p : groups_[group]) entries += context_.parameters()[p].tensor.numel();
  return entries;
}
void VivitRows::check_group(size_t group) const {
  TORCH_CHECK_INDEX(group < groups_.size(),
                    "vivit: group ",
                    group,
                    " asked for but there are ",
                    groups_.size(),
                    "; count from 0 in the order of options.groups");
}

void VivitRows::check_options() const {
  TORCH_CHECK_VALUE(options_.mc_samples > 0,
                    "vivit: options.mc_samples is ",
                    options_.mc_samples,
                    " but must be at least 1; leave it at 1 for exact columns");
  check_samples(context_.capture(), options_.gradient_samples, "vivit", "gradient_samples");
}

void VivitRows::set_groups() {
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
}

std::vector<Seed> VivitRows::seeds(Range range) const {
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

// Chooses the rows of the columns in `range` that count: those of the chosen samples.
Rows VivitRows::choose(const Rows& stacked, Range range) const {
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

int64_t VivitRows::row_count(Range range) const {
  const int64_t factor_columns = std::min(range.end, K_) - range.begin;
  return factor_columns * S() + (range.end > K_ ? G() : 0);
}

std::vector<VivitRows::Range> VivitRows::pieces(int64_t share) const {
  const int64_t piece = pass_.columns_at_once(context_.memory().stack_bytes / share);
  std::vector<Range> ranges;
  for (int64_t begin = 0; begin < columns(); begin += piece) {
    ranges.push_back({begin, std::min(begin + piece, columns())});
  }
  return ranges;
}

void VivitRows::gather() {
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

Questions VivitRows::gram_question() const {
  Questions questions;
  questions.what = Need::kGram;
  questions.scratch_bytes = context_.memory().scratch_bytes;
  return questions;
}

void VivitRows::gather_whole(Range range) {
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

void VivitRows::gather_pair(Range a, Range b) {
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
        const Tensor cross = pair.answer(gram_question()).gram.slice(0, 0, rows_a).slice(1, rows_a);
        TORCH_INTERNAL_ASSERT(cross.size(1) == rows_b);
        block(gram, a, b) += cross;
        block(gram, b, a) += cross.t();
      },
      wanted_);
}

Tensor VivitRows::block(const Tensor& gram, Range a, Range b) const {
  return gram.narrow(0, first_row(a), row_count(a)).narrow(1, first_row(b), row_count(b));
}

Tensor VivitRows::inner_products(const Tensor& vectors, size_t group) const {
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

std::vector<bool> VivitRows::wanted_in(size_t group) const {
  std::vector<bool> wanted(wanted_.size(), false);
  for (size_t p : groups_[group]) wanted[p] = true;
  return wanted;
}

std::vector<Tensor> VivitRows::combine(const Tensor& coefficients, size_t group) const {
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

}  // namespace flightdeck

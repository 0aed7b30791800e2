// SPDX-License-Identifier: MIT
#include "rows/rows.h"

#include <algorithm>
#include <typeinfo>

#include <ATen/ATen.h>

namespace flightdeck {
namespace {

void accumulate(Tensor& total, const Tensor& part) {
  if (!part.defined()) return;
  total = total.defined() ? total + part : part;
}

}  // namespace

Rows::Rows(std::shared_ptr<const Form> form) {
  Placement placement(form->shape());
  terms_.push_back({std::move(form), std::move(placement)});
}

void Rows::add(Rows other) {
  for (Term& term : other.terms_) terms_.push_back(std::move(term));
}

void Rows::merge() {
  std::vector<Term> merged;
  std::vector<bool> is_taken(terms_.size(), false);
  for (size_t first = 0; first < terms_.size(); ++first) {
    if (is_taken[first]) continue;
    FormList others;
    std::vector<size_t> partners;
    for (size_t k = first + 1; k < terms_.size(); ++k) {
      const bool same_kind = typeid(*terms_[first].form) == typeid(*terms_[k].form);
      if (is_taken[k] || !same_kind || !(terms_[first].placement == terms_[k].placement)) continue;
      others.push_back(terms_[k].form);
      partners.push_back(k);
    }
    auto joined = others.empty() ? nullptr : terms_[first].form->plus(others);
    if (joined) {
      for (size_t k : partners) is_taken[k] = true;
      merged.push_back({joined, terms_[first].placement});
    } else {
      merged.push_back(terms_[first]);
    }
  }
  terms_ = std::move(merged);
}

Rows Rows::select(const Tensor& index) const {
  Rows chosen;
  for (const Term& term : terms_)
    chosen.terms_.push_back({term.form->select(index), term.placement});
  return chosen;
}

Rows Rows::stack(const std::vector<Rows>& columns) {
  if (columns.size() == 1) return columns[0];
  Rows stacked;
  for (size_t t = 0; t < columns[0].terms_.size(); ++t) {
    FormList others;
    for (size_t k = 1; k < columns.size(); ++k) others.push_back(columns[k].terms_[t].form);
    stacked.terms_.push_back(
        {columns[0].terms_[t].form->followed_by(others), columns[0].terms_[t].placement});
  }
  return stacked;
}

Answers Rows::answer(const Questions& questions) const {
  TORCH_INTERNAL_ASSERT(!empty());
  return terms_.size() == 1 ? answer_term(terms_[0], questions) : answer_sum(questions);
}

Answers Rows::answer_term(const Term& term, const Questions& questions) const {
  Questions placed = questions;
  if (questions.directions.defined()) {
    placed.directions = term.placement.from_parameter(
        questions.directions.to(term.form->options().dtype()), /*lead=*/1);
  }
  Answers answers = term.form->answer(placed);
  const auto place = [&term](Tensor& tensor, int64_t lead) {
    if (tensor.defined()) tensor = term.placement.to_parameter(tensor, lead);
  };
  place(answers.sum, 0);
  place(answers.second, 0);
  place(answers.dense, 1);
  return answers;
}

bool Rows::terms_are_disjoint() const {
  for (size_t i = 0; i < terms_.size(); ++i) {
    for (size_t j = i + 1; j < terms_.size(); ++j) {
      if (!terms_[i].placement.is_disjoint_from(terms_[j].placement)) return false;
    }
  }
  return true;
}

Answers Rows::answer_sum(const Questions& questions) const {
  // Sums, dots and written-out rows add up over the terms. Squares do so only where no entry is
  // reached twice; otherwise the rows are written out, a few at a time.
  const bool disjoint = terms_are_disjoint();
  Questions each = questions;
  if (!disjoint) each.second = each.norms = each.gram = false;
  Answers total;
  for (const Term& term : terms_) {
    const Answers part = answer_term(term, each);
    accumulate(total.sum, part.sum);
    accumulate(total.second, part.second);
    if (part.norms.defined()) {
      total.norms = total.norms.defined() ? at::hypot(total.norms, part.norms) : part.norms;
    }
    accumulate(total.gram, part.gram);
    accumulate(total.dense, part.dense);
    accumulate(total.dots, part.dots);
    total.algorithm += (total.algorithm.empty() ? "" : " + ") + part.algorithm;
  }
  if (!disjoint && (questions.second || questions.norms || questions.gram)) {
    answer_from_pieces(questions, total);
    total.algorithm += "; cross terms of uses by rows written out in pieces";
  }
  return total;
}

void Rows::answer_from_pieces(const Questions& questions, Answers& answers) const {
  const int64_t piece =
      answers.dense.defined() ? N() : rows_per_piece(shape(), options(), questions.scratch_bytes);
  const auto flat_rows = [&](int64_t begin) {
    const int64_t end = std::min(begin + piece, N());
    const Tensor rows =
        answers.dense.defined() ? answers.dense.slice(0, begin, end) : dense(begin, end);
    return rows.reshape({end - begin, -1});
  };
  Tensor norms = at::empty({N()}, options());
  if (questions.gram) answers.gram = at::empty({N(), N()}, options());
  for (int64_t begin = 0; begin < N(); begin += piece) {
    const Tensor rows = flat_rows(begin);
    const int64_t end = begin + rows.size(0);
    if (questions.second) {
      accumulate(answers.second, at::linalg_vector_norm(rows, 2, {0}).square_());
    }
    norms.slice(0, begin, end).copy_(at::linalg_vector_norm(rows, 2, {1}));
    if (!questions.gram) continue;
    answers.gram.slice(0, begin, end).slice(1, begin, end).copy_(at::mm(rows, rows.t()));
    for (int64_t other = end; other < N(); other += piece) {
      const Tensor partners = flat_rows(other);
      const Tensor block = at::mm(rows, partners.t());
      const int64_t other_end = other + partners.size(0);
      answers.gram.slice(0, begin, end).slice(1, other, other_end).copy_(block);
      answers.gram.slice(0, other, other_end).slice(1, begin, end).copy_(block.t());
    }
  }
  if (questions.second) answers.second = answers.second.mul(questions.share).view(shape());
  if (questions.norms) answers.norms = norms;
}

Tensor Rows::combine(const Tensor& coefficients) const {
  Tensor total;
  for (const Term& term : terms_) {
    accumulate(total, term.placement.to_parameter(term.form->combine(coefficients), /*lead=*/1));
  }
  return total;
}

Tensor Rows::dense(int64_t begin, int64_t end) const {
  Tensor total;
  for (const Term& term : terms_) {
    accumulate(total, term.placement.to_parameter(term.form->dense(begin, end), /*lead=*/1));
  }
  return total;
}

Histogram Rows::histogram(const Bins& bins, int64_t scratch_bytes) const {
  if (terms_.size() == 1) {
    Tensor counts = terms_[0].form->count(bins, scratch_bytes);
    // Entries outside a slice of the parameter are zero in every row.
    const int64_t outside = N() * (product(shape()) - product(terms_[0].form->shape()));
    if (outside > 0) {
      const Tensor zero = bin_index(at::zeros({1}, options()), bins).add_(1).to(counts.device());
      counts.index_add_(0, zero, at::full({1}, outside, counts.options()));
    }
    return finish_histogram(counts, bins);
  }
  const int64_t piece = rows_per_piece(shape(), options(), scratch_bytes);
  Tensor counts = at::zeros({bins.count + 3}, options().dtype(at::kLong));
  for (int64_t begin = 0; begin < N(); begin += piece) {
    counts += count_into_bins(dense(begin, std::min(begin + piece, N())), bins);
  }
  return finish_histogram(counts, bins);
}

Tensor Rows::histogram2d(const Bins& bins,
                         const Tensor& values,
                         const Bins& value_bins,
                         int64_t scratch_bytes) const {
  TORCH_INTERNAL_ASSERT(values.sizes() == at::IntArrayRef(shape()));
  const Tensor value_bin =
      bin_index(values.reshape({-1}).clamp(value_bins.low, value_bins.high), value_bins);
  const int64_t piece = rows_per_piece(shape(), options(), scratch_bytes);
  Tensor counts = at::zeros({bins.count, value_bins.count}, options().dtype(at::kLong));
  for (int64_t begin = 0; begin < N(); begin += piece) {
    const int64_t end = std::min(begin + piece, N());
    counts += count_into_joint_bins(
        dense(begin, end).reshape({end - begin, -1}), bins, value_bin, value_bins.count);
  }
  return counts;
}

}  // namespace flightdeck

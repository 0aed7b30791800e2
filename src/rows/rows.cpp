// SPDX-License-Identifier: MIT
#include "rows/rows.h"

#include <algorithm>
#include <typeinfo>

#include <ATen/ATen.h>

#include "rows/centred_sums.h"
#include "rows/counts.h"
#include "rows/shared.h"

namespace flightdeck {
namespace {

void accumulate(Tensor& total, const Tensor& part) {
  if (!part.defined()) return;
  total = total.defined() ? total + part : part;
}

// Adds the answers of a term that shares no entry with those before, or what is linear.
void accumulate(Answers& total, const Answers& part) {
  accumulate(total.sum, part.sum);
  accumulate(total.second, part.second);
  if (part.norms.defined()) total.norms = at::hypot(total.norms, part.norms);
  accumulate(total.gram, part.gram);
  accumulate(total.dense, part.dense);
  accumulate(total.dots, part.dots);
  accumulate(total.mean_dots, part.mean_dots);
  accumulate(total.deviations, part.deviations);
  accumulate(total.variance, part.variance);
  for (size_t k = 0; k < part.histograms.size(); ++k) {
    accumulate(total.histograms[k], part.histograms[k]);
  }
  for (size_t k = 0; k < part.joint_histograms.size(); ++k) {
    accumulate(total.joint_histograms[k], part.joint_histograms[k]);
  }
  total.algorithm += " + " + part.algorithm;
}

// The questions as the term's form sees them.
Questions placed(const Questions& questions, const Rows::Term& term) {
  Questions seen = questions;
  if (questions.directions.defined()) {
    seen.directions = term.placement.from_parameter(
        questions.directions.to(term.form->options().dtype()), /*lead=*/1);
  }
  for (Tensor& bin : seen.value_bins) bin = term.placement.from_parameter(bin, /*lead=*/0);
  return seen;
}

}  // namespace

Rows::Rows(std::shared_ptr<const Form> form) {
  Placement placement(form->shape());
  came_from(c10::typeMetaToScalarType(form->options().dtype()));
  terms_.push_back({std::move(form), std::move(placement)});
}

void Rows::came_from(at::ScalarType type) { epsilon_ = std::max(epsilon_, machine_epsilon(type)); }

void Rows::add(Rows other) {
  epsilon_ = std::max(epsilon_, other.epsilon_);
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
  chosen.epsilon_ = epsilon_;
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
  Answers answers =
      terms_are_disjoint() ? answer_disjoint(questions) : answer_overlapping(questions);
  answers.epsilon = epsilon_;
  return answers;
}

Answers Rows::answer_term(const Term& term, const Questions& questions) const {
  Answers answers = term.form->answer(placed(questions, term));
  const auto place = [&term](Tensor& tensor, int64_t lead) {
    if (tensor.defined()) tensor = term.placement.to_parameter(tensor, lead);
  };
  place(answers.sum, 0);
  place(answers.second, 0);
  place(answers.variance, 0);
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

Answers Rows::answer_disjoint(const Questions& questions) const {
  Answers total = answer_term(terms_[0], questions);
  for (size_t k = 1; k < terms_.size(); ++k) accumulate(total, answer_term(terms_[k], questions));
  count_entries_outside(questions, total);
  return total;
}

void Rows::count_entries_outside(const Questions& questions, Answers& answers) const {
  if (!questions.any_counts()) return;
  int64_t inside = 0;
  for (const Term& term : terms_) inside += product(term.form->shape());
  if (inside == product(shape())) return;
  // Entries outside all slices of the parameter are zero in every row.
  count_zeros(N(), product(shape()), options(), questions, answers);
  for (const Term& term : terms_) {
    count_zeros(-N(), product(term.form->shape()), options(), placed(questions, term), answers);
  }
}

Answers Rows::answer_overlapping(const Questions& questions) const {
  // Sums, dots and written-out rows add up over the terms. Squares and counts do not, as some entry
  // is reached twice: the rows are written out for them, a few at a time.
  Questions each = questions;
  each.second = each.norms = each.gram = false;
  each.mean_dots = each.deviations = each.variance = false;
  each.sum = questions.sum || questions.any_centred();
  each.drop_counts();
  Answers total = answer_term(terms_[0], each);
  for (size_t k = 1; k < terms_.size(); ++k) accumulate(total, answer_term(terms_[k], each));
  Questions rest = questions;
  const Term* shared = find_shared(terms_);
  if (shared && !total.dense.defined()) {
    answer_with_shared(without(shared), *shared, questions, total);
    rest.second = rest.norms = rest.gram = false;
    rest.mean_dots = rest.deviations = rest.variance = false;
  }
  if (rest.second || rest.norms || rest.gram || rest.any_centred() || rest.any_counts()) {
    answer_from_pieces(rest, total);
    total.algorithm += "; cross terms of uses by rows written out in pieces";
  }
  if (!questions.sum) total.sum = Tensor();
  return total;
}

Rows Rows::without(const Term* left_out) const {
  Rows others;
  for (const Term& term : terms_) {
    if (&term != left_out) others.terms_.push_back(term);
  }
  return others;
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
  if (questions.norms) answers.norms = at::empty({N()}, options());
  if (questions.gram) answers.gram = at::empty({N(), N()}, options());
  CentredSums centred(N(), options());
  Tensor mean, squares;
  if (questions.any_centred()) {
    mean = answers.sum.reshape({-1}).div(questions.share * double(N()));
    if (questions.variance) squares = at::zeros_like(mean);
  }
  for (int64_t begin = 0; begin < N(); begin += piece) {
    const Tensor rows = flat_rows(begin);
    const int64_t end = begin + rows.size(0);
    if (questions.second) {
      accumulate(answers.second, at::linalg_vector_norm(rows, 2, {0}).square_());
    }
    if (questions.norms) {
      answers.norms.slice(0, begin, end).copy_(at::linalg_vector_norm(rows, 2, {1}));
    }
    if (mean.defined()) centred.add_some(begin, rows, mean, squares);
    count_rows(rows, questions, answers);
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
  if (mean.defined()) centred.answer(questions, mean, answers);
  if (questions.mean_dots) answers.mean_dots.mul_(questions.share);
  if (questions.variance) answers.variance = squares.mul_(questions.share).view(shape());
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

}  // namespace flightdeck

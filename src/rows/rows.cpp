// SPDX-License-Identifier: MIT
#include "rows/rows.h"

#include <algorithm>
#include <typeinfo>

#include <ATen/ATen.h>

#include "rows/shared.h"
#include "rows/sweep.h"

namespace flightdeck {
namespace {

void accumulate(Tensor& total, const Tensor& part) {
  if (!part.defined()) return;
  total = total.defined() ? total + part : part;
}

// Returns the questions as the term's form sees them.
Questions placed(const Questions& questions, const Rows::Term& term) {
  Questions seen = moved(questions, [&term](const Tensor& tensor, int64_t lead) {
    return term.placement.from_parameter(tensor, lead);
  });
  if (seen.directions.defined()) {
    seen.directions = seen.directions.to(term.form->options().dtype());
  }
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

Answers Rows::answer(const Asked& asked, const Questions& questions) const {
  TORCH_INTERNAL_ASSERT(!empty());
  Answers answers = terms_are_disjoint() ? answer_disjoint(asked, questions)
                                         : answer_overlapping(asked, questions);
  answers.epsilon = epsilon_;
  return answers;
}

Answers Rows::answer_term(const Term& term, const Asked& asked, const Questions& questions) const {
  Answers answers = term.form->answer(asked, placed(questions, term));
  move_entries(
      asked,
      [&term](const Tensor& tensor, int64_t lead) {
        return term.placement.to_parameter(tensor, lead);
      },
      answers);
  return answers;
}

Answers Rows::answer_terms(const Asked& asked, const Questions& questions) const {
  Answers total = answer_term(terms_[0], asked, questions);
  for (size_t k = 1; k < terms_.size(); ++k) {
    const Answers part = answer_term(terms_[k], asked, questions);
    for (const Answer* answer : asked) {
      Values values = answer->get(total);
      answer->add(values, answer->get(part));
      answer->put(total, std::move(values));
    }
    total.algorithm += " + " + part.algorithm;
  }
  return total;
}

bool Rows::terms_are_disjoint() const {
  for (size_t i = 0; i < terms_.size(); ++i) {
    for (size_t j = i + 1; j < terms_.size(); ++j) {
      if (!terms_[i].placement.is_disjoint_from(terms_[j].placement)) return false;
    }
  }
  return true;
}

Answers Rows::answer_disjoint(const Asked& asked, const Questions& questions) const {
  Answers total = answer_terms(asked, questions);
  add_entries_outside(asked, questions, total);
  return total;
}

// Adds the entries outside all slices of the parameter, which are zero in every row.
void Rows::add_entries_outside(const Asked& asked,
                               const Questions& questions,
                               Answers& answers) const {
  int64_t inside = 0;
  for (const Term& term : terms_) inside += product(term.form->shape());
  if (inside == product(shape())) return;
  for (const Answer* answer : asked) {
    Values values = answer->get(answers);
    answer->add_zeros(values, N(), product(shape()), options(), questions);
    for (const Term& term : terms_) {
      answer->add_zeros(
          values, -N(), product(term.form->shape()), options(), placed(questions, term));
    }
    answer->put(answers, std::move(values));
  }
}

Answers Rows::answer_overlapping(const Asked& asked, const Questions& questions) const {
  // Linear answers add up over the terms. Others do not, as some entry is reached twice: the rows
  // are written out for them, a few at a time.
  Asked linear, others;
  for (const Answer* answer : asked) {
    (answer->kind().is_linear ? linear : others).push_back(answer);
  }
  Questions of_each = questions;
  of_each.what = needs_of(linear);
  Answers total = answer_terms(linear, of_each);
  const Term* shared = find_shared(terms_);
  if (shared && !look_of(linear).keeps) {
    others = answer_with_shared(without(shared), *shared, others, questions, total);
  }
  if (!others.empty()) {
    answer_from_pieces(others, questions, total);
    total.algorithm += "; cross terms of uses by rows written out in pieces";
  }
  return total;
}

Rows Rows::without(const Term* left_out) const {
  Rows others;
  for (const Term& term : terms_) {
    if (&term != left_out) others.terms_.push_back(term);
  }
  return others;
}

void Rows::answer_from_pieces(const Asked& asked,
                              const Questions& questions,
                              Answers& answers) const {
  const Tensor& written = answers.individual;
  Writable writable;
  writable.size = {N(), product(shape()), options()};
  writable.rows = [&](int64_t begin, int64_t end) {
    return written.defined() ? written.slice(0, begin, end).to(options().dtype())
                             : dense(begin, end);
  };
  writable.sum = [&] { return combine(at::ones({1, N()}, options())); };
  const int64_t piece =
      written.defined() ? N() : rows_per_piece(shape(), options(), questions.scratch_bytes);
  Sweep sweep(asked, questions, writable.size);
  sweep_samples(writable, piece, questions, sweep);
  sweep.finish(shape(), answers);
}

at::TensorOptions Rows::options() const {
  at::TensorOptions widest = terms_.front().form->options();
  for (const Term& term : terms_) {
    const auto type = c10::typeMetaToScalarType(term.form->options().dtype());
    widest = widest.dtype(c10::promoteTypes(c10::typeMetaToScalarType(widest.dtype()), type));
  }
  return widest;
}

Tensor Rows::combine(const Tensor& coefficients) const {
  Tensor total;
  for (const Term& term : terms_) {
    const Tensor own = coefficients.to(term.form->options().dtype());
    accumulate(total, term.placement.to_parameter(term.form->combine(own), /*lead=*/1));
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

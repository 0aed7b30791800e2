// SPDX-License-Identifier: MIT
// The individual gradients of one parameter: a sum of forms, one per use (or merged), each placed
// inside the parameter.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "rows/form.h"
#include "rows/placement.h"

namespace flightdeck {

class Rows {
 public:
  struct Term {
    std::shared_ptr<const Form> form;
    Placement placement;
  };

  Rows() = default;
  explicit Rows(std::shared_ptr<const Form> form);

  // Returns true if there are no terms: the parameter takes no part.
  bool empty() const { return terms_.empty(); }
  int64_t N() const { return terms_.front().form->N(); }
  // Returns the options of the sum of all terms: the backward pass may cast between two uses.
  at::TensorOptions options() const;
  const Shape& shape() const { return terms_.front().placement.shape(); }
  const std::vector<Term>& terms() const { return terms_; }
  std::vector<Term>& terms() { return terms_; }

  // Notes that the rows came from numbers of this type: their own is not coarser, or has become
  // finer.
  void came_from(at::ScalarType type);
  // Returns the machine epsilon of the coarsest of these types.
  double epsilon() const { return epsilon_; }

  // Adds the rows of another use.
  void add(Rows other);
  // Joins forms that can share one; call before asking when uses were added.
  void merge();
  Rows select(const Tensor& index) const;
  // Stacks the rows of all columns, one column after the other.
  static Rows stack(const std::vector<Rows>& columns);

  Answers answer(const Asked& asked, const Questions& questions) const;
  Answers answer(const Questions& questions) const {
    return answer(flightdeck::asked(questions), questions);
  }
  Tensor combine(const Tensor& coefficients) const;  // [M, N] -> [M, *shape]
  Tensor dense(int64_t begin, int64_t end) const;    // [end - begin, *shape]

 private:
  Answers answer_term(const Term& term, const Asked& asked, const Questions& questions) const;
  // Adds up the answers of all terms: of terms that share no entry, or of linear answers.
  Answers answer_terms(const Asked& asked, const Questions& questions) const;
  Answers answer_disjoint(const Asked& asked, const Questions& questions) const;
  Answers answer_overlapping(const Asked& asked, const Questions& questions) const;
  void add_entries_outside(const Asked& asked, const Questions& questions, Answers& answers) const;
  void answer_from_pieces(const Asked& asked, const Questions& questions, Answers& answers) const;
  Rows without(const Term* left_out) const;
  bool terms_are_disjoint() const;
  std::vector<Term> terms_;
  double epsilon_ = 0;  // of the coarsest type they came from
};

}  // namespace flightdeck

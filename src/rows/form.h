// SPDX-License-Identifier: MIT
// The individual gradients of one use of a parameter: N rows kept as factors, which answer
// questions without being written out where that is cheaper.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "base/shape.h"
#include "rows/answer.h"

namespace flightdeck {

using at::Tensor;

class Form;
using FormList = std::vector<std::shared_ptr<const Form>>;

// Holds the rows of one use in factored form. Forms are immutable; every result that is not said to
// be in double is in the rows' own precision (float32 for half-precision factors), and none carries
// a factor 1/N.
class Form {
 public:
  virtual ~Form() = default;

  virtual const char* name() const = 0;
  virtual int64_t N() const = 0;
  virtual const Shape& shape() const = 0;
  virtual at::TensorOptions options() const = 0;

  // Obtains each answer by the cheapest exact algorithm, given everything else that is asked.
  virtual Answers answer(const Asked& asked, const Questions& questions) const = 0;
  Answers answer(const Questions& questions) const {
    return answer(flightdeck::asked(questions), questions);
  }

  // Computes sum_n c[m][n] g_n: [M, N] -> [M, *shape].
  virtual Tensor combine(const Tensor& coefficients) const = 0;

  // Writes out rows begin..end-1: [end - begin, *shape].
  virtual Tensor dense(int64_t begin, int64_t end) const = 0;

  // Returns true if products with rows that are written out anyway are cheaper than with the
  // factors.
  virtual bool is_cheaper_written() const { return false; }

  // Returns the rows at `index` [S].
  virtual std::shared_ptr<const Form> select(const Tensor& index) const = 0;

  // Returns the sum of the squares of all rows of this form and of others, times the share:
  // [*shape], ours alone, where what they share makes that cheaper than form by form; an undefined
  // tensor elsewhere. A trace takes no more than their norms.
  virtual Tensor squares_with(const FormList& /*others*/,
                              double /*share*/,
                              bool /*is_for_trace*/) const {
    return {};
  }

  // Return the tensors the rows are made of, and the same rows from copies of them.
  virtual std::vector<Tensor> factors() const = 0;
  virtual std::shared_ptr<const Form> with_factors(std::vector<Tensor> factors) const = 0;

  // Returns the rows of this form plus those of others as one form, or null if they cannot share
  // one.
  virtual std::shared_ptr<const Form> plus(const FormList& others) const;

  // Returns the rows of this form followed by those of others (columns of one stack) as one form
  // that shares what they have in common.
  virtual std::shared_ptr<const Form> followed_by(const FormList& others) const;

  // Return the factors, written out, of rows that are products over positions, g_n = a_nᵀ b_n
  // with a [N, T, I] and b [N, T, J]. Undefined if the rows have no such structure. The row's
  // shape is [I, J] or, if `is_flipped`, [J, ...] with everything but the first dimension taken
  // together.
  virtual Tensor position_inputs() const { return {}; }
  virtual Tensor position_gradients() const { return {}; }
  virtual bool is_flipped() const { return false; }
};

// Returns how many rows of `shape` fit into `scratch_bytes`; at least one.
int64_t rows_per_piece(const Shape& shape, const at::TensorOptions& options, int64_t scratch_bytes);

// Returns factors as rows are computed from them: half and bfloat16 become float32, and memory
// holds what the tensor says.
Tensor in_row_precision(const Tensor& factor);

// Returns the distance from 1 to the next number of a floating type.
double machine_epsilon(at::ScalarType type);

// Computes norms from the diagonal of a Gram matrix; rounding can leave a zero below zero.
Tensor norms_from_gram(const Tensor& gram);

// Returns true if both show the same entries of the same memory.
bool is_same_memory(const Tensor& a, const Tensor& b);

// Computes Xᵀ X for X [R, I], or with `lines` X Xᵀ: the upper triangle by blocks, the rest
// copied.
Tensor symmetric_product(const Tensor& x, bool lines = false);

// Adds X Xᵀ to the upper triangle of `target`, by blocks of lines; see mirror_upper.
void add_symmetric_product(const Tensor& target, const Tensor& x);
// Copies the upper blocks of such a sum to the lower ones.
void mirror_upper(const Tensor& target);

// Answers from rows that are written out, a few samples at a time within the scratch memory, or all
// at once where they are asked for themselves.
void answer_written(const Form& form,
                    const Asked& asked,
                    const Questions& questions,
                    Answers& answers);

}  // namespace flightdeck

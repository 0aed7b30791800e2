// SPDX-License-Identifier: MIT
// The individual gradients of one use of a parameter: N rows kept as factors, and the questions
// that can be asked of them without writing the rows out.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "base/shape.h"
#include "rows/histogram.h"

namespace flightdeck {

using at::Tensor;

/// What is asked of rows in one go, so that a form can share work between the answers.
struct Questions {
  bool sum = false;         ///< sum_n g_n
  bool second = false;      ///< sum_n g_n² per entry
  bool norms = false;       ///< ||g_n||
  bool gram = false;        ///< <g_n, g_m>
  bool dense = false;       ///< the rows themselves
  bool mean_dots = false;   ///< <g_n, sum_m g_m>
  bool deviations = false;  ///< ||g_n - g||² with the mean g of all rows
  bool variance = false;    ///< sum_n (g_n - g)² per entry
  Tensor directions;        ///< [V, *shape]; defined means dots are asked for
  std::vector<Bins> histograms;
  std::vector<JointBins> joint_histograms;
  std::vector<Tensor> value_bins;  ///< one [*shape] per joint histogram; see value_bin_index
  /// Sum, second, variance and mean_dots are multiplied by it (1/N makes them means).
  double share = 1;
  int64_t scratch_bytes = int64_t{64} << 20;

  bool any_counts() const { return !histograms.empty() || !joint_histograms.empty(); }
  /// Something that depends on how the rows differ. It is computed from the rows' differences to
  /// their mean, or in double: from sums of squares nothing would be left of rows that nearly
  /// agree.
  bool any_centred() const { return mean_dots || deviations || variance; }
  bool any_instances() const { return second || dense || any_centred() || any_counts(); }
  void drop_counts();
};

struct Answers {
  Tensor sum;                      ///< [*shape], times share; never shared with another tensor
  Tensor second;                   ///< [*shape], times share; never shared with another tensor
  Tensor norms;                    ///< [N]
  Tensor gram;                     ///< [N, N]
  Tensor dense;                    ///< [N, *shape]
  Tensor dots;                     ///< [N, V]
  Tensor mean_dots;                ///< [N], times share, in double
  Tensor deviations;               ///< [N], in double
  Tensor variance;                 ///< [*shape], times share; never shared with another tensor
  std::vector<Tensor> histograms;  ///< raw counts [bins + 3], see count_into_bins
  std::vector<Tensor> joint_histograms;  ///< [bins, value bins + 1], see value_bin_index
  double epsilon = 0;  ///< of the coarsest type that the rows came from; set by Rows
  std::string algorithm;
};

class Form;
using FormList = std::vector<std::shared_ptr<const Form>>;

/// Rows of one use in factored form. Forms are immutable; every result that is not said to be in
/// double is in the rows' own precision (float32 for half-precision factors), and none carries a
/// factor 1/N.
class Form {
 public:
  virtual ~Form() = default;

  virtual const char* name() const = 0;
  virtual int64_t N() const = 0;
  virtual const Shape& shape() const = 0;
  virtual at::TensorOptions options() const = 0;

  /// Each answer by the cheapest exact algorithm, given everything else that is asked.
  virtual Answers answer(const Questions& questions) const = 0;

  /// sum_n c[m][n] g_n: [M, N] -> [M, *shape].
  virtual Tensor combine(const Tensor& coefficients) const = 0;

  /// Rows begin..end-1 written out: [end - begin, *shape].
  virtual Tensor dense(int64_t begin, int64_t end) const = 0;

  /// The rows at `index` [S].
  virtual std::shared_ptr<const Form> select(const Tensor& index) const = 0;

  /// The tensors the rows are made of, and the same rows from copies of them.
  virtual std::vector<Tensor> factors() const = 0;
  virtual std::shared_ptr<const Form> with_factors(std::vector<Tensor> factors) const = 0;

  /// The rows of this form plus those of others as one form, or null if they cannot share one.
  virtual std::shared_ptr<const Form> plus(const FormList& others) const;

  /// The rows of this form followed by those of others (columns of one stack) as one form that
  /// shares what they have in common.
  virtual std::shared_ptr<const Form> followed_by(const FormList& others) const;

  /// For rows that are products over positions, g_n = a_nᵀ b_n with a [N, T, I] and b [N, T, J]:
  /// the factors, written out. Undefined if the rows have no such structure. The row's shape is
  /// [I, J] or, if `is_flipped`, [J, ...] with everything but the first dimension taken together.
  virtual Tensor position_inputs() const { return {}; }
  virtual Tensor position_gradients() const { return {}; }
  virtual bool is_flipped() const { return false; }
};

/// How many rows of `shape` fit into `scratch_bytes`; at least one.
int64_t rows_per_piece(const Shape& shape, const at::TensorOptions& options, int64_t scratch_bytes);

/// Factors as rows are computed from them: half and bfloat16 become float32, and memory holds what
/// the tensor says.
Tensor in_row_precision(const Tensor& factor);

/// Distance from 1 to the next number of a floating type.
double machine_epsilon(at::ScalarType type);

/// The sum over the first dimension times the share, in one operation where it is the mean.
Tensor shared_sum(const Tensor& rows, double share);

/// Norms from the diagonal of a Gram matrix; rounding can leave a zero below zero.
Tensor norms_from_gram(const Tensor& gram);

/// Multiplies what carries the share by it; for forms that have no cheaper place for it.
void apply_share(const Questions& questions, Answers& answers);

/// True if both show the same entries of the same memory.
bool is_same_memory(const Tensor& a, const Tensor& b);

/// Xᵀ X for X [R, I], or with `lines` X Xᵀ: the upper triangle by blocks, the rest copied.
Tensor symmetric_product(const Tensor& x, bool lines = false);

/// target += X Xᵀ, upper triangle only, by blocks of lines; see mirror_upper.
void add_symmetric_product(const Tensor& target, const Tensor& x);
/// Copies the upper blocks of the above to the lower ones.
void mirror_upper(const Tensor& target);

/// Adds what `dense` rows [N, *shape] alone can answer; used by forms that had to write them out.
void answer_from_dense(const Tensor& dense, const Questions& questions, Answers& answers);

}  // namespace flightdeck

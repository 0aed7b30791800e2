// SPDX-License-Identifier: MIT
// Rows as factors, the way forms show them to answers. What several answers take from them is
// computed when it is first asked for, and once.
#pragma once

#include <algorithm>
#include <limits>
#include <memory>

#include <ATen/core/Tensor.h>

#include "base/shape.h"
#include "rows/product_scatter.h"
#include "rows/questions.h"

namespace flightdeck {

// Holds rows g_n = a_n b_nᵀ. K columns of samples may share a.
class Products {
 public:
  Products(Tensor a, Tensor b) : a_(std::move(a)), b_(std::move(b)) {}

  const Tensor& a() const { return a_; }  // [N / K, I]
  const Tensor& b() const { return b_; }  // [N, J]
  int64_t N() const { return b_.size(0); }
  int64_t K() const { return N() / std::max<int64_t>(1, a_.size(0)); }
  Tensor columns() const { return b_.view({K(), a_.size(0), b_.size(1)}); }
  const Tensor& a_of_rows() const;  // [N, I]
  const Scatter& scatter() const;
  const Moments& moments(const Questions& questions) const;

 private:
  Tensor a_, b_;
  mutable Tensor a_of_rows_;
  mutable Scatter scatter_;
  mutable Moments moments_;
};

// Tells what can be had of rows g_n = A_nᵀ B_n, with A_n [T, I] and B_n [T, J], without forming
// them. Costs are in flops of one large product.
class Positions {
 public:
  virtual ~Positions() = default;

  int64_t N = 0, T = 0, I = 0, J = 0;
  double form_flops = 0;  // of forming all rows
  double norms_flops = std::numeric_limits<double>::infinity();
  double gram_flops = std::numeric_limits<double>::infinity();
  double sum_flops() const { return 2.0 * double(N) * double(T) * double(I) * double(J); }

  virtual Tensor sum() const = 0;                           // sum_n g_n
  virtual Tensor dots(const Tensor& directions) const = 0;  // [N, V]
  // These go by pairs of positions. There is no answer where the cost is infinite.
  virtual Tensor norms(int64_t /*scratch_bytes*/) const { return {}; }  // [N]
  const Tensor& gram(int64_t scratch_bytes) const;                      // [N, N]

 private:
  virtual Tensor compute_gram(int64_t /*scratch_bytes*/) const { return {}; }

  mutable Tensor gram_;
};

// Holds rows in which row n has `b[n][t]` added to line `indices[n][t]` of a table. All other lines
// are zero.
class Lines {
 public:
  Lines(Tensor indices, Tensor b, Shape shape)
      : indices_(std::move(indices)), b_(std::move(b)), shape_(std::move(shape)) {}

  const Tensor& indices() const { return indices_; }  // [N, T]
  const Tensor& b() const { return b_; }              // [N, T, J]
  const Shape& shape() const { return shape_; }
  int64_t N() const { return indices_.size(0); }
  at::TensorOptions options() const { return b_.options(); }
  const Tensor& sum() const;  // [V, J]

  // Holds the distinct (sample, line) pairs and the sum of b over each: what the rows really hold.
  struct Distinct {
    Tensor sample;  // [R]
    Tensor line;    // [R]
    Tensor values;  // [R, J]
  };
  const Distinct& distinct() const;

  // Holds differences to the mean on the lines that a sample has. On those it has not, the row is
  // zero.
  struct Centred {
    Tensor mean;         // [V, J]
    Tensor centre;       // [R, J], the mean on the distinct lines
    Tensor differences;  // [R, J]
    Tensor squares;      // [R, J]
    Tensor lengths;      // [V] double, squared lengths of the mean's lines
    Tensor here;         // [R] double, the same on the distinct lines
  };
  const Centred& centred() const;

  // Adds up values [R] of the distinct pairs by sample, [N].
  Tensor by_sample(const Tensor& values) const;

 private:
  Tensor indices_, b_;
  Shape shape_;
  mutable Tensor sum_;
  mutable Distinct distinct_;
  mutable Centred centred_;
};

// Holds rows g_n = sum_k c_nk v_k.
class Multiples {
 public:
  Multiples(Tensor c, Tensor v, Shape shape)
      : c_(std::move(c)), v_(std::move(v)), shape_(std::move(shape)) {}

  const Tensor& c() const { return c_; }  // [N, K]
  const Tensor& v() const { return v_; }  // [K, entries]
  const Shape& shape() const { return shape_; }
  const Tensor& centred() const;                     // c less its mean over the samples, in double
  const Tensor& products() const;                    // [K, K]: <v_k, v_l>
  Tensor squares_of(const Tensor& multiples) const;  // sum_n g_n² for other multiples [N, K]

 private:
  Tensor c_, v_;
  Shape shape_;
  mutable Tensor centred_, products_;
};

class Rows;

// Holds the sum of rows x_n and of multiples c_nk v_k, in the shape of the parameter: its squares
// follow from those of the two and the products between them, which x answers without being written
// out.
class SumWithShared {
 public:
  SumWithShared(const Rows& x, const Multiples& multiples) : x_(x), multiples_(multiples) {}

  // These are known as far as needs_of_sum took them; dots of x are <x_n, v_k>.
  Answers of_x, of_multiples;

  const Multiples& multiples() const { return multiples_; }
  Tensor dots_in_double() const;  // <x_n, v_k>
  const Tensor& gram();           // [N, N]
  // Returns sum_n 2 m_nk v_k x_n for multiples m [N, K].
  Tensor squares_between(const Tensor& multiples) const;

 private:
  const Rows& x_;
  const Multiples& multiples_;
  Tensor gram_;
};

}  // namespace flightdeck

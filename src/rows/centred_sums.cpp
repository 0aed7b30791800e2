// SPDX-License-Identifier: MIT
#include "rows/centred_sums.h"

#include <algorithm>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include "rows/sweeps.h"

namespace flightdeck {
namespace {

// A block of the mean stays in the cache while all rows pass by, each for a few pages at a time.
constexpr int64_t kBlock = 8192;
// Lanes keep the additions independent of each other, and stretches keep them few in each lane,
// which limits their rounding.
constexpr int64_t kLanes = 8;
constexpr int64_t kStretch = 1024;

struct RowSums {
  double deviation = 0, along = 0;

  RowSums& operator+=(const RowSums& other) {
    deviation += other.deviation;
    along += other.along;
    return *this;
  }
};

// Sums one row in one stretch. Adds its differences to `drift`, their squares to `squares`.
template <typename Scalar, bool kHasSquares>
RowSums sum_row(
    const Scalar* row, const Scalar* mean, int64_t size, Scalar* drift, Scalar* squares) {
  Scalar deviations[kLanes] = {}, along[kLanes] = {};
  int64_t e = 0;
  for (; e + kLanes <= size; e += kLanes) {
    // One loop per result: nothing is stored between a loop's own loads, so that it vectorises.
    Scalar difference[kLanes];
    for (int64_t k = 0; k < kLanes; ++k) difference[k] = row[e + k] - mean[e + k];
    for (int64_t k = 0; k < kLanes; ++k) along[k] += difference[k] * mean[e + k];
    for (int64_t k = 0; k < kLanes; ++k) deviations[k] += difference[k] * difference[k];
    for (int64_t k = 0; k < kLanes; ++k) drift[e + k] += difference[k];
    for (int64_t k = 0; kHasSquares && k < kLanes; ++k) {
      squares[e + k] += difference[k] * difference[k];
    }
  }
  for (; e < size; ++e) {
    const Scalar difference = row[e] - mean[e];
    along[0] += difference * mean[e];
    deviations[0] += difference * difference;
    drift[e] += difference;
    if (kHasSquares) squares[e] += difference * difference;
  }
  RowSums sums;
  for (int64_t lane = 0; lane < kLanes; ++lane) {
    sums.deviation += static_cast<double>(deviations[lane]);
    sums.along += static_cast<double>(along[lane]);
  }
  return sums;
}

// Adds to the results, which do not depend on the number of threads. With `is_all`, what the rows
// have in common beside the mean is rounding of the mean, and is taken off again.
template <typename Scalar>
void sweep(const Tensor& rows,
           const Tensor& mean,
           bool is_all,
           const Tensor& deviations,
           const Tensor& along,
           const Tensor& squares) {
  const int64_t R = rows.size(0), E = rows.size(1);
  const int64_t blocks = (E + kBlock - 1) / kBlock;
  const auto* from = rows.data_ptr<Scalar>();
  const auto* centre = mean.data_ptr<Scalar>();
  auto* to_squares = squares.defined() ? squares.data_ptr<Scalar>() : nullptr;
  std::vector<RowSums> parts(static_cast<size_t>(blocks * R));
  const int64_t grain = 1 + (int64_t{1} << 15) / (1 + R * kBlock);
  at::parallel_for(0, blocks, grain, [&](int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; ++block) {
      const int64_t first = block * kBlock, size = std::min(kBlock, E - first);
      Scalar drift[kBlock] = {};
      RowSums* part = parts.data() + block * R;
      for (int64_t n = 0; n < R; ++n) {
        for (int64_t e = 0; e < size; e += kStretch) {
          const int64_t entry = first + e, count = std::min(kStretch, size - e);
          const Scalar* row = from + n * E + entry;
          part[n] +=
              to_squares
                  ? sum_row<Scalar, true>(row, centre + entry, count, drift + e, to_squares + entry)
                  : sum_row<Scalar, false>(row, centre + entry, count, drift + e, nullptr);
        }
      }
      if (!is_all) continue;
      double excess = 0;
      for (int64_t e = 0; e < size; ++e) {
        const Scalar square = drift[e] * drift[e] / static_cast<Scalar>(R);
        excess += static_cast<double>(square);
        if (!to_squares) continue;
        Scalar& rest = to_squares[first + e];
        rest = rest < square ? Scalar{0} : rest - square;  // NaN passes
      }
      for (int64_t n = 0; n < R; ++n) part[n].deviation -= excess / static_cast<double>(R);
    }
  });
  auto* to_deviations = deviations.data_ptr<double>();
  auto* to_along = along.data_ptr<double>();
  for (int64_t block = 0; block < blocks; ++block) {
    for (int64_t n = 0; n < R; ++n) {
      to_deviations[n] += parts[block * R + n].deviation;
      to_along[n] += parts[block * R + n].along;
    }
  }
}

void add_centred(const Tensor& rows,
                 const Tensor& mean,
                 bool is_all,
                 const Tensor& deviations,
                 const Tensor& along,
                 const Tensor& squares) {
  const auto dtype = rows.scalar_type();
  if (rows.is_cpu() && dtype == at::kFloat) {
    sweep<float>(rows.contiguous(), mean.contiguous(), is_all, deviations, along, squares);
  } else if (rows.is_cpu() && dtype == at::kDouble) {
    sweep<double>(rows.contiguous(), mean.contiguous(), is_all, deviations, along, squares);
  } else {
    const Tensor centred = rows - mean;
    deviations.add_(at::linalg_vector_norm(centred, 2, {1}, false, at::kDouble).square_());
    along.add_(at::mv(centred, mean));
    if (squares.defined()) squares.add_(at::linalg_vector_norm(centred, 2, {0}).square_());
  }
}

}  // namespace

CentredSums::CentredSums(int64_t count, const at::TensorOptions& options)
    : deviations_(at::zeros({count}, options.dtype(at::kDouble))),
      along_(at::zeros({count}, options.dtype(at::kDouble))) {}

void CentredSums::add(const Tensor& rows, const Tensor& mean, const Tensor& squares) {
  add_centred(rows, mean, /*is_all=*/true, deviations_, along_, squares);
}

void CentredSums::add_some(int64_t first,
                           const Tensor& rows,
                           const Tensor& mean,
                           const Tensor& squares) {
  const int64_t end = first + rows.size(0);
  add_centred(rows,
              mean,
              /*is_all=*/false,
              deviations_.slice(0, first, end),
              along_.slice(0, first, end),
              squares);
}

Tensor CentredSums::deviations() const { return deviations_.clamp_min(0); }

Tensor CentredSums::dots_with_sum(const Tensor& mean) const {
  return (along_ + sum_of_squares(mean)).mul_(static_cast<double>(along_.size(0)));
}

}  // namespace flightdeck

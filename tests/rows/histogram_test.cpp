// SPDX-License-Identifier: MIT
// Every way of counting against the definition, entry by entry; all counts must be equal.
#include "rows/histogram.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <ATen/Parallel.h>

#include "errors.h"
#include "tensors.h"

namespace flightdeck::tests {
namespace {

// The definition: -1 below, count above, count + 1 for NaN.
template <typename Scalar>
int64_t bin_of(Scalar value, const Bins& bins) {
  const auto low = static_cast<Scalar>(bins.low), high = static_cast<Scalar>(bins.high);
  const auto scale = static_cast<Scalar>(bins.count / (bins.high - bins.low));
  if (std::isnan(value)) return bins.count + 1;
  if (value < low) return -1;
  if (value > high) return bins.count;
  const Scalar shifted = value - low;
  return std::min(static_cast<int64_t>(shifted * scale), bins.count - 1);
}

Tensor expected_counts(const Tensor& values, const Bins& bins) {
  Tensor counts = at::zeros({bins.count + 3}, at::kLong);
  const Tensor flat = values.contiguous();
  AT_DISPATCH_FLOATING_TYPES(flat.scalar_type(), "expected_counts", [&] {
    for (int64_t k = 0; k < flat.numel(); ++k) {
      ++counts.data_ptr<int64_t>()[bin_of(flat.data_ptr<scalar_t>()[k], bins) + 1];
    }
  });
  return counts;
}

Tensor expected_joint_counts(const Tensor& rows,
                             const Bins& bins,
                             const Tensor& value_bin,
                             int64_t value_bins) {
  Tensor counts = at::zeros({bins.count, value_bins}, at::kLong);
  const Tensor flat = rows.contiguous(), columns = value_bin.to(at::kLong).contiguous();
  const int64_t d = columns.numel();
  AT_DISPATCH_FLOATING_TYPES(flat.scalar_type(), "expected_joint_counts", [&] {
    const auto low = static_cast<scalar_t>(bins.low), high = static_cast<scalar_t>(bins.high);
    for (int64_t k = 0; k < flat.numel(); ++k) {
      const scalar_t value = flat.data_ptr<scalar_t>()[k];
      const int64_t column = columns.data_ptr<int64_t>()[k % d];
      if (std::isnan(value) || column < 0 || column >= value_bins) continue;
      const scalar_t clamped = value < low ? low : value > high ? high : value;
      ++counts.data_ptr<int64_t>()[bin_of(clamped, bins) * value_bins + column];
    }
  });
  return counts;
}

Tensor there(const Tensor& values) { return values.to(test_device()); }

// Kinds of values; each is a way for an algorithm to go wrong.
enum Kind {
  kConcentrated,
  kSpread,
  kHalfZero,
  kTiny,
  kOfAllSizes,
  kExtreme,
  kNotFinite,
  kOneSign,
  kConstant,
  kNumKinds
};

Tensor values_of(Kind kind, at::IntArrayRef shape, at::ScalarType type) {
  const auto options = at::TensorOptions(type);
  const Tensor normal = at::randn(shape, options), uniform = at::rand(shape, options);
  const double infinity = std::numeric_limits<double>::infinity();
  switch (kind) {
    case kConcentrated:
      return normal * 0.1;
    case kSpread:
      return normal * 1.5;
    case kHalfZero:
      // Zeros of both signs.
      return at::where(uniform < 0.5, normal * 0.3, normal.sign() * 0.0);
    case kTiny:
      return normal * 1e-4;
    case kOfAllSizes:
      return normal.sign() * at::pow(10.0, uniform * 60 - 50).to(type);
    case kExtreme:
      return at::where(uniform < 0.3, normal * 1e-40, normal * 1e30);
    case kNotFinite: {
      Tensor values = normal * 0.5;
      values.masked_fill_(uniform < 0.3, 0);
      values.masked_fill_(uniform > 0.9, infinity);
      values.masked_fill_(uniform > 0.94, -infinity);
      return values.masked_fill_(uniform > 0.98, std::numeric_limits<double>::quiet_NaN());
    }
    case kOneSign:
      return normal.abs() * 0.2;
    default:
      return at::full(shape, 0.25, options);
  }
}

const Bins kManyBins[] = {{-2, 2, 100},
                          {-1, 1, 40},
                          {-1, 1, 41},
                          {-0.3, 0.5, 7},
                          {0, 1, 10},
                          {-1, 0, 10},
                          {0.1, 0.7, 9},
                          {-3, -0.01, 30},
                          {-1, 1, 1},
                          {-1e-7, 1e-7, 33},
                          {1e6, 1e6 + 1, 50}};

class Histograms : public testing::TestWithParam<std::tuple<at::ScalarType, int>> {
 protected:
  void SetUp() override {
    torch::manual_seed(11);
    threads_before_ = at::get_num_threads();
    at::set_num_threads(std::get<1>(GetParam()));
  }
  void TearDown() override { at::set_num_threads(threads_before_); }

  at::ScalarType type() const { return std::get<0>(GetParam()); }

  int threads_before_ = 1;
};

struct Sizes {
  int64_t N, I, J;
};

const Sizes kSizes[] = {{1, 1, 1},
                        {3, 0, 5},
                        {3, 5, 0},
                        {1, 70, 3},
                        {9, 1, 40},
                        {4, 33, 29},
                        {2, 16, 64},
                        {5, 100, 10},
                        {3, 130, 150}};

void expect_outer_counts(const Tensor& a, const Tensor& b, const Bins& bins) {
  SCOPED_TRACE(::testing::Message() << bins.low << ".." << bins.high << " / " << bins.count);
  const Tensor products = a.unsqueeze(2) * b.unsqueeze(1);
  EXPECT_TRUE(
      count_outer_into_bins(there(a), there(b), bins).cpu().equal(expected_counts(products, bins)));
  const int64_t value_bins = 6;
  // Some entries have no value bin.
  const Tensor value_bin = at::randint(-1, value_bins + 2, {a.size(1), b.size(1)}, at::kInt);
  EXPECT_TRUE(count_outer_into_joint_bins(there(a), there(b), there(value_bin), bins, value_bins)
                  .cpu()
                  .equal(expected_joint_counts(products, bins, value_bin, value_bins)));
}

TEST_P(Histograms, OfOuterProductsEqualTheDirectCount) {
  for (const Sizes& size : kSizes) {
    for (int a_kind = 0; a_kind < kNumKinds; ++a_kind) {
      for (int b_kind = 0; b_kind < kNumKinds; ++b_kind) {
        SCOPED_TRACE(::testing::Message() << size.N << " x " << size.I << " x " << size.J
                                          << ", kinds " << a_kind << ", " << b_kind);
        const Tensor a = values_of(Kind(a_kind), {size.N, size.I}, type());
        const Tensor b = values_of(Kind(b_kind), {size.N, size.J}, type());
        const size_t every = size.I * size.J > 500 ? 4 : 1;
        for (size_t k = (a_kind + b_kind) % every; k < std::size(kManyBins); k += every) {
          expect_outer_counts(a, b, kManyBins[k]);
        }
      }
    }
  }
}

TEST_P(Histograms, OfLargeOuterProductsEqualTheDirectCount) {
  for (const Kind kind : {kConcentrated, kSpread, kHalfZero, kTiny, kOfAllSizes, kNotFinite}) {
    SCOPED_TRACE(kind);
    // Enough pairs per boundary that sorting pays, and blocks of columns.
    const Tensor a = values_of(kind, {1, 400}, type()), b = values_of(kind, {1, 600}, type());
    expect_outer_counts(a, b, {-2, 2, 100});
    expect_outer_counts(a, b, {-1e-8, 1e-8, 3});
  }
}

TEST_P(Histograms, OfRowsEqualTheDirectCount) {
  for (const int64_t size : {0, 1, 15, 16, 17, 2047, 5000, 70000}) {
    for (int kind = 0; kind < kNumKinds; ++kind) {
      const Tensor values = values_of(Kind(kind), {size}, type());
      for (const Bins& bins : kManyBins) {
        SCOPED_TRACE(::testing::Message() << size << ", kind " << kind << ", from " << bins.low);
        EXPECT_TRUE(
            count_into_bins(there(values), bins).cpu().equal(expected_counts(values, bins)));
      }
    }
  }
}

TEST_P(Histograms, OfRowsAndValuesEqualTheDirectCount) {
  for (const int64_t d : {0, 1, 31, 513, 3000}) {
    for (int kind = 0; kind < kNumKinds; ++kind) {
      const Tensor rows = values_of(Kind(kind), {5, d}, type());
      const Tensor value_bin = at::randint(-1, 9, {d}, at::kLong);
      for (const Bins& bins : kManyBins) {
        SCOPED_TRACE(::testing::Message() << d << ", kind " << kind << ", from " << bins.low);
        EXPECT_TRUE(count_into_joint_bins(there(rows), bins, there(value_bin), 8)
                        .cpu()
                        .equal(expected_joint_counts(rows, bins, value_bin, 8)));
      }
    }
  }
}

TEST_P(Histograms, ReadTensorsOfAnyStride) {
  const Bins bins{-1, 1, 20};
  const Tensor a = values_of(kSpread, {30, 4}, type()).t();
  const Tensor b = values_of(kConcentrated, {4, 50}, type()).slice(1, 0, 50, 2);
  expect_outer_counts(a, b, bins);
  EXPECT_TRUE(count_into_bins(there(a), bins).cpu().equal(expected_counts(a, bins)));
  const Tensor value_bin = at::randint(0, 6, {30}, at::kLong);
  EXPECT_TRUE(count_into_joint_bins(there(a), bins, there(value_bin), 6)
                  .cpu()
                  .equal(expected_joint_counts(a, bins, value_bin, 6)));
}

TEST_P(Histograms, IndexEveryValue) {
  for (int kind = 0; kind < kNumKinds; ++kind) {
    const Tensor values = values_of(Kind(kind), {3, 1001}, type());
    for (const Bins& bins : kManyBins) {
      const Tensor index = bin_index(there(values), bins).cpu();
      EXPECT_TRUE(at::bincount((index + 1).view({-1}), {}, bins.count + 3)
                      .equal(expected_counts(values, bins)));
      EXPECT_TRUE(bin_index(there(values), bins, at::kInt).cpu().equal(index.to(at::kInt)));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Counts,
                         Histograms,
                         testing::Combine(testing::Values(at::kFloat, at::kDouble),
                                          testing::Values(1, 2)),
                         [](const auto& info) {
                           return std::string(c10::toString(std::get<0>(info.param))) + "On" +
                                  std::to_string(std::get<1>(info.param));
                         });

TEST(HistogramBins, RefuseAnEmptyRange) {
  const Tensor values = at::zeros({3});
  expect_mentions(error_of([&] { count_into_bins(values, {1, 1, 10}); }), {"1 to 1", "low < high"});
  expect_mentions(error_of([&] { count_into_bins(values, {0, 1, 0}); }), {"0 bins"});
}

}  // namespace
}  // namespace flightdeck::tests

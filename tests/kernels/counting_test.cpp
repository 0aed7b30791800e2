// SPDX-License-Identifier: MIT
// The counting kernels of every instruction set against plain loops.
#include "kernels/counting/counting.h"

#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/patch_products/patch_products.h"

namespace flightdeck::kernels {
namespace {

const int64_t kSizes[] = {0, 1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 63, 129, 1001};

// What this processor can run.
std::vector<std::string> available() {
  const std::string best(patch_products_isa());
  if (best == "avx512") return {"reference", "baseline", "avx2", "avx512"};
  if (best == "avx2") return {"reference", "baseline", "avx2"};
  return {"reference", "baseline"};
}

template <typename Scalar>
class CountingKernelsOf : public testing::Test {
 protected:
  // Normal numbers, some of them zero, infinite or NaN.
  std::vector<Scalar> draw(int64_t size, bool finite = false) {
    std::normal_distribution<Scalar> normal(0, Scalar(0.1));
    std::vector<Scalar> values(size + 1);
    for (Scalar& value : values) {
      const unsigned kind = random_() % 32;
      value = kind < 4 ? Scalar(0) : normal(random_);
      if (kind == 5 && !finite) value = std::numeric_limits<Scalar>::infinity();
      if (kind == 6 && !finite) value = -std::numeric_limits<Scalar>::infinity();
      if (kind == 7 && !finite) value = std::numeric_limits<Scalar>::quiet_NaN();
    }
    return values;
  }

  // Every kernel set, every size; the numbers start at an unaligned address.
  template <typename Body>
  void for_each(const Body& body) {
    for (const std::string& isa : available()) {
      for (const int64_t size : kSizes) {
        SCOPED_TRACE(isa + " " + std::to_string(size));
        body(*counting_kernels<Scalar>(isa), size);
      }
    }
  }

  static bool same(Scalar x, Scalar y) { return x == y || (std::isnan(x) && std::isnan(y)); }

  std::minstd_rand random_{1};
  const Window<Scalar> window_{Scalar(-0.05), Scalar(-1e-7), Scalar(0.06)};
};

using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(CountingKernelsOf, Scalars);

TYPED_TEST(CountingKernelsOf, IndexByTheDefinition) {
  using Scalar = TypeParam;
  const EqualBins<Scalar> bins{Scalar(-0.15), Scalar(0.2), Scalar(20 / 0.35), 20};
  this->for_each([&](const CountingKernels<Scalar>& kernels, int64_t size) {
    const auto x = this->draw(size);
    std::vector<int32_t> index(size), clamped(size);
    kernels.index(x.data() + 1, size, bins, index.data());
    kernels.clamped_index(x.data() + 1, size, bins, clamped.data());
    for (int64_t k = 0; k < size; ++k) {
      const Scalar value = x[k + 1], shifted = value - bins.low;
      int32_t expected = 22;
      if (value < bins.low) expected = 0;
      if (value > bins.high) expected = 21;
      if (value >= bins.low && value <= bins.high) {
        expected = 1 + std::min(19, static_cast<int32_t>(shifted * bins.scale));
      }
      EXPECT_EQ(index[k], expected) << value;
      if (expected == 0) expected = 1;
      if (expected == 21) expected = 20;
      EXPECT_EQ(clamped[k], expected) << value;
    }
  });
}

TYPED_TEST(CountingKernelsOf, KeepWhatLiesOutsideTheWindow) {
  using Scalar = TypeParam;
  const Window<Scalar>& window = this->window_;
  this->for_each([&](const CountingKernels<Scalar>& kernels, int64_t size) {
    const auto x = this->draw(size);
    std::vector<Scalar> others(size + kSlack), expected;
    int64_t num_others = -1, upper = 0;
    for (int64_t k = 1; k <= size; ++k) {
      if (!(x[k] >= window.low && x[k] < window.high)) expected.push_back(x[k]);
      upper += x[k] >= window.middle && x[k] < window.high;
    }
    EXPECT_EQ(kernels.in_window(x.data() + 1, size, window, others.data(), &num_others), upper);
    ASSERT_EQ(num_others, int64_t(expected.size()));
    for (int64_t k = 0; k < num_others; ++k) EXPECT_TRUE(this->same(others[k], expected[k]));
  });
}

TYPED_TEST(CountingKernelsOf, CountProductsInTheWindowByColumn) {
  using Scalar = TypeParam;
  using Count = typename CountingKernels<Scalar>::Count;
  const Window<Scalar>& window = this->window_;
  const Scalar factor = Scalar(-1.7);
  this->for_each([&](const CountingKernels<Scalar>& kernels, int64_t size) {
    const auto x = this->draw(size);
    std::vector<Count> upper(size, 5);
    std::vector<Scalar> others(size + kSlack);
    std::vector<int32_t> positions(size + kSlack);
    const int64_t num_others = kernels.window_by_column(
        x.data() + 1, size, factor, window, upper.data(), others.data(), positions.data());
    int64_t seen = 0;
    for (int64_t k = 0; k < size; ++k) {
      const Scalar product = x[k + 1] * factor;
      EXPECT_EQ(upper[k], 5 + (product >= window.middle));
      if (product >= window.low && product < window.high) continue;
      ASSERT_LT(seen, num_others);
      EXPECT_EQ(positions[seen], k);
      EXPECT_TRUE(this->same(others[seen++], product));
    }
    EXPECT_EQ(seen, num_others);
  });
}

TYPED_TEST(CountingKernelsOf, CountProductsOfLinesByColumn) {
  using Scalar = TypeParam;
  using Count = typename CountingKernels<Scalar>::Count;
  const Scalar middle = this->window_.middle;
  const std::vector<int32_t> lines{4, 0, 2};
  this->for_each([&](const CountingKernels<Scalar>& kernels, int64_t size) {
    const int64_t stride = size + 3;
    const auto b = this->draw(5 * stride), factors = this->draw(3);
    std::vector<Count> upper(size, 7);
    kernels.products_by_column(
        b.data() + 1, stride, size, lines.data(), factors.data(), 3, middle, upper.data());
    for (int64_t k = 0; k < size; ++k) {
      Count expected = 7;
      for (int s = 0; s < 3; ++s) {
        const Scalar product = b[1 + lines[s] * stride + k] * factors[s];
        expected += product >= middle;
      }
      EXPECT_EQ(upper[k], expected);
    }
  });
}

TYPED_TEST(CountingKernelsOf, SelectAndPairByProducts) {
  using Scalar = TypeParam;
  const Scalar bound = Scalar(0.01);
  this->for_each([&](const CountingKernels<Scalar>& kernels, int64_t size) {
    for (const bool at_least : {true, false}) {
      const auto x = this->draw(size, /*finite=*/true), u = this->draw(6, /*finite=*/true);
      std::vector<Scalar> selected(size + 2 * kSlack), expected;
      const int64_t number =
          kernels.select(x.data() + 1, size, Scalar(0.3), bound, at_least, selected.data());
      for (int64_t k = 1; k <= size; ++k) {
        const Scalar product = x[k] * Scalar(0.3);
        if (at_least ? product >= bound : product < bound) expected.push_back(x[k]);
      }
      ASSERT_EQ(number, int64_t(expected.size()));
      selected.resize(number);
      EXPECT_EQ(selected, expected);

      int64_t pairs = 0;
      for (const Scalar left : u) {
        for (const Scalar right : selected) {
          const Scalar product = left * right;
          pairs += product >= bound;
        }
      }
      selected.resize(number + kSlack);
      EXPECT_EQ(kernels.pairs_at_least(u.data(), int64_t(u.size()), selected.data(), number, bound),
                pairs);
    }
  });
}

TYPED_TEST(CountingKernelsOf, SplitBySignAndFindExtremes) {
  using Scalar = TypeParam;
  this->for_each([&](const CountingKernels<Scalar>& kernels, int64_t size) {
    const auto x = this->draw(size);
    std::vector<Scalar> positive(size + kSlack), negative(size + kSlack), above, below;
    int64_t zeros = 0;
    for (int64_t k = 1; k <= size; ++k) {
      if (x[k] > 0) above.push_back(x[k]);
      if (x[k] < 0) below.push_back(-x[k]);
      zeros += x[k] == 0;
    }
    const SignCounts counts =
        kernels.split_by_sign(x.data() + 1, size, positive.data(), negative.data());
    ASSERT_EQ(counts.positive, int64_t(above.size()));
    ASSERT_EQ(counts.negative, int64_t(below.size()));
    EXPECT_EQ(counts.zero, zeros);
    positive.resize(counts.positive);
    negative.resize(counts.negative);
    EXPECT_EQ(positive, above);
    EXPECT_EQ(negative, below);
    if (above.empty()) return;
    const Extremes<Scalar> range = kernels.extremes(positive.data(), counts.positive);
    EXPECT_EQ(range.smallest, *std::min_element(above.begin(), above.end()));
    EXPECT_EQ(range.largest, *std::max_element(above.begin(), above.end()));
  });
}

TEST(CountingIsa, IsThatOfPatchProductsOrTheBaseline) {
  const char* const wish = std::getenv("FLIGHTDECK_ISA");
  const bool is_plain = wish != nullptr && std::string_view(wish) == "reference";
  const std::string_view best = patch_products_isa();
  EXPECT_EQ(counting_isa(), best == "reference" && !is_plain ? "baseline" : best);
  EXPECT_EQ(&counting_kernels<float>(), counting_kernels<float>(counting_isa()));
  EXPECT_NE(counting_kernels<float>("reference"), counting_kernels<float>("baseline"));
}

}  // namespace
}  // namespace flightdeck::kernels

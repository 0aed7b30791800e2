// SPDX-License-Identifier: MIT
// The kernels that take a table of pointers, each against the same in double on the CPU: ragged
// shapes, strides, more entries than a table holds, NaN. Where the CPU plays a GPU
// (FLIGHTDECK_ISA=gpu_reference) these are the plain loops that define what is right.
#include "rows/gpu_tables.h"

#include <limits>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "kernels/tables/tables.h"

namespace flightdeck {
namespace {

class GpuTables : public ::testing::Test {
 protected:
  void SetUp() override {
    torch::manual_seed(1);
    if (cpu_plays_gpu()) return;
    if (!torch::cuda::is_available()) GTEST_SKIP() << "there is no GPU here";
    const auto warm = torch::zeros({1}, torch::kCUDA);  // makes the context of this thread
    if (!kernels::tables()) GTEST_SKIP() << "kernels: " << kernels::tables_text();
  }

  static at::Device device() { return cpu_plays_gpu() ? at::kCPU : at::kCUDA; }
  static Tensor random(at::IntArrayRef sizes) { return torch::randn(sizes, device()); }

  // Written out, in double on the CPU, [N, d].
  static Tensor rows_of(const TableRows& rows) {
    const Tensor b = rows.b.cpu().to(at::kDouble);
    if (!rows.a.defined()) return b;
    return rows.a.cpu().to(at::kDouble).unsqueeze(2).mul(b.unsqueeze(1)).flatten(1);
  }

  static void expect_close(const Tensor& value, const Tensor& expected, double tolerance) {
    EXPECT_TRUE(torch::allclose(value.cpu().to(at::kDouble),
                                expected,
                                tolerance,
                                tolerance * expected.abs().max().item<double>()))
        << value << " instead of " << expected;
  }

  // Linear layers, biases, a transposed factor and one with gaps between samples.
  static std::vector<TableRows> some_rows(int64_t N) {
    return {{random({N, 7}), random({N, 5})},
            {Tensor(), random({N, 10})},
            {random({33, N}).t(), random({N, 1})},
            {random({N, 1}), random({2 * N, 70}).slice(0, 0, 2 * N, 2)},
            {random({N, 300}), random({N, 40}).slice(1, 3, 20)}};
  }
};

TEST_F(GpuTables, ScatterEqualsThatOfRowsWrittenOut) {
  for (const int64_t N : {1, 2, 16, 17, 61, 128}) {
    SCOPED_TRACE(N);
    const std::vector<TableRows> all = some_rows(N);
    const double share = 1.0 / static_cast<double>(N);
    const auto scatter = scatter_by_table(all, share);
    ASSERT_TRUE(scatter.has_value());
    for (size_t p = 0; p < all.size(); ++p) {
      const Tensor rows = rows_of(all[p]), mean = rows.mean(0);
      const auto at = static_cast<int64_t>(p);
      expect_close(scatter->norms[at], rows.norm(2, 1), 1e-6);
      expect_close(scatter->dots[at], rows.mv(mean), 1e-13);
      expect_close(scatter->deviations[at], (rows - mean).square().sum(1), 1e-12);
      expect_close(scatter->squared_mean[at], mean.square().sum(), 1e-12);
    }
  }
}

TEST_F(GpuTables, MoreRowsThanATableHoldsAreAnsweredAll) {
  std::vector<TableRows> all;
  for (int k = 0; k < 2 * kernels::kTableEntries + 3; ++k)
    all.push_back({random({4, 3}), random({4, 2})});
  const auto scatter = scatter_by_table(all, 0.25);
  const auto counts = counts_by_table(all, Bins{-1, 1, 4});
  ASSERT_TRUE(scatter.has_value() && counts.has_value());
  for (size_t p = 0; p < all.size(); ++p) {
    expect_close(scatter->norms[static_cast<int64_t>(p)], rows_of(all[p]).norm(2, 1), 1e-6);
    EXPECT_EQ((*counts)[static_cast<int64_t>(p)].sum().item<int64_t>(), 4 * 6);
  }
}

TEST_F(GpuTables, CountsEqualThoseOfFloatProducts) {
  for (const int64_t N : {1, 61, 128}) {
    std::vector<TableRows> all = some_rows(N);
    all[1].b[0][3] = std::numeric_limits<float>::quiet_NaN();
    all[1].b[0][4] = std::numeric_limits<float>::infinity();
    const Bins bins{-2, 1.5, 37};
    const auto counts = counts_by_table(all, bins);
    ASSERT_TRUE(counts.has_value());
    for (size_t p = 0; p < all.size(); ++p) {
      const Tensor b = all[p].b.cpu();
      const Tensor rows = all[p].a.defined()
                              ? all[p].a.cpu().unsqueeze(2).mul(b.unsqueeze(1)).flatten()
                              : b.flatten();
      Tensor expected = torch::zeros({bins.count + 3}, at::kLong);
      const auto low = static_cast<float>(bins.low), high = static_cast<float>(bins.high);
      const auto scale = static_cast<float>(bins.count / (bins.high - bins.low));
      const Tensor written = rows.contiguous();
      for (int64_t k = 0; k < written.numel(); ++k) {
        const float x = written.data_ptr<float>()[k];
        int64_t place = bins.count + 2;
        if (x < low) place = 0;
        if (x > high) place = bins.count + 1;
        if (x >= low && x <= high) {
          place = 1 + std::min<int64_t>(static_cast<int64_t>((x - low) * scale), bins.count - 1);
        }
        ++expected.data_ptr<int64_t>()[place];
      }
      EXPECT_TRUE(torch::equal((*counts)[static_cast<int64_t>(p)].cpu(), expected))
          << "entry " << p;
    }
  }
}

TEST_F(GpuTables, SumsDifferencesAndCopiesAreThoseOfThePairs) {
  std::vector<TablePair> pairs;
  std::vector<Tensor> before;
  for (const int64_t count : {1, 255, 16384, 16385, 100003}) {
    const Tensor y = random({count});
    before.push_back(y.cpu().clone());
    pairs.push_back({random({count}), y, torch::empty({count}, device()), y});
  }
  pairs.push_back({random({9, 4}).t(), {}, {}, {}});
  const auto sums = sums_by_table(pairs);
  ASSERT_TRUE(sums.has_value());
  for (size_t p = 0; p < pairs.size(); ++p) {
    const auto at = static_cast<int64_t>(p);
    const Tensor x = pairs[p].x.cpu();
    const Tensor y = p < before.size() ? before[p] : torch::zeros_like(x);
    expect_close(sums->squares[at], (x - y).to(at::kDouble).square().sum(), 1e-13);
    expect_close(sums->before[at], y.to(at::kDouble).square().sum(), 1e-13);
    if (p == before.size()) continue;
    EXPECT_TRUE(torch::equal(pairs[p].difference.cpu(), x - y));
    EXPECT_TRUE(torch::equal(pairs[p].copy.cpu(), x));
  }
}

TEST_F(GpuTables, SlopesEqualThoseOfRowsWrittenOut) {
  for (const int64_t N : {1, 17, 130}) {
    for (const int64_t T : {1, 3}) {
      SCOPED_TRACE("N " + std::to_string(N) + ", T " + std::to_string(T));
      struct Case {
        Tensor a, b;
        bool is_transposed;
      };
      std::vector<Case> cases = {{random({N, T, 7}), random({N, T, 5}), false},
                                 {random({N, T, 70}), random({N, T, 33}), true},
                                 {random({T, N, 65}).transpose(0, 1), random({N, T, 1}), true},
                                 {random({N, T, 1}), random({N, T, 40}).slice(2, 3, 20), false}};
      if (T == 1) cases.push_back({Tensor(), random({N, 100}), false});
      for (int k = 0; k < kernels::kTableSlopes; ++k) {
        cases.push_back({random({N, T, 2}), random({N, T, 3}), k % 2 == 0});
      }
      std::vector<TableSlope> slopes;
      std::vector<Tensor> expected;
      for (const Case& one : cases) {
        const int64_t I = one.a.defined() ? one.a.size(2) : 1, J = one.b.size(-1);
        const Tensor u = random({I, J});
        const Tensor given = one.is_transposed ? u.t().contiguous() : u;
        slopes.push_back(
            {one.a, one.b, given, one.is_transposed ? 1 : J, one.is_transposed ? I : 1});
        const Tensor direction = u.cpu().to(at::kDouble), b = one.b.cpu().to(at::kDouble);
        const Tensor a = one.a.defined() ? one.a.cpu().to(at::kDouble) : Tensor();
        expected.push_back(a.defined() ? torch::matmul(a, direction).mul(b).sum({1, 2})
                                       : b.mv(direction[0]));
      }
      const auto answered = slopes_by_table(slopes);
      ASSERT_TRUE(answered.has_value());
      for (size_t k = 0; k < expected.size(); ++k) {
        SCOPED_TRACE(k);
        expect_close((*answered)[static_cast<int64_t>(k)], expected[k], 1e-5);
      }
    }
  }
}

TEST_F(GpuTables, SumsOfManyPartsAreTakenTogether) {
  std::vector<TableSum> sums;
  std::vector<Tensor> expected;
  for (int k = 0; k < 2 * kernels::kTableSums + 1; ++k) {
    TableSum& sum = sums.emplace_back();
    sum.is_root = k % 3 == 1;
    const auto type = k % 3 == 2 ? at::kLong : k % 2 == 0 ? at::kDouble : at::kFloat;
    for (int part = 0; part < 1 + 5 * k; ++part) {
      sum.parts.push_back(random({3, 100 + k}).mul(10).to(type));
    }
    const Tensor all = torch::stack(sum.parts).cpu().to(at::kDouble);
    expected.push_back(sum.is_root ? all.square().sum(0).sqrt() : all.sum(0));
  }
  const auto answered = add_up_by_table(sums);
  ASSERT_TRUE(answered.has_value());
  for (size_t k = 0; k < sums.size(); ++k) {
    SCOPED_TRACE(k);
    EXPECT_EQ((*answered)[k].scalar_type(), sums[k].parts[0].scalar_type());
    expect_close((*answered)[k], expected[k], 1e-6);
  }
  sums[0].parts.push_back(random({2}).to(at::kDouble));
  EXPECT_FALSE(add_up_by_table(sums).has_value()) << "parts of two shapes";
}

TEST_F(GpuTables, PackingKeepsEveryNumberInOrder) {
  std::vector<Tensor> tensors = {random({3, 4}).t(),
                                 random({5000}).to(at::kDouble),
                                 torch::arange(7, torch::TensorOptions(device()).dtype(at::kLong)),
                                 torch::ones({2}, torch::TensorOptions(device()).dtype(at::kInt)),
                                 random({}),
                                 torch::empty({0}, device())};
  for (int k = 0; k < kernels::kTableEntries; ++k) tensors.push_back(random({k}));
  std::vector<const Tensor*> pointers;
  std::vector<Tensor> expected;
  for (const Tensor& tensor : tensors) {
    pointers.push_back(&tensor);
    expected.push_back(tensor.cpu().to(at::kDouble).reshape({-1}));
  }
  const auto list = packed_by_table(pointers);
  ASSERT_TRUE(list.has_value());
  EXPECT_TRUE(torch::equal(list->cpu(), torch::cat(expected)));
}

TEST_F(GpuTables, NumbersOfEntriesAreThoseOfEachEntryInDouble) {
  const double infinity = std::numeric_limits<double>::infinity();
  const double tiny = 1e-3, huge = 2.5;
  Tensor odd = random({50001});
  odd.index_put_({torch::arange(0, 40, 4)}, 0);
  odd.index_put_({torch::arange(1, 40, 4)}, infinity);
  odd.index_put_({torch::arange(2, 40, 4)}, -infinity);
  odd.index_put_({torch::arange(3, 40, 4)}, std::numeric_limits<double>::quiet_NaN());
  const std::vector<Tensor> cases = {random({3, 4}).t(),
                                     random({70, 600}).slice(1, 3, 590, 2),
                                     random({16384}).to(at::kDouble),
                                     random({33}).to(at::kHalf),
                                     torch::arange(100, torch::TensorOptions(device())),
                                     torch::full({5}, infinity, device()),
                                     odd};
  for (const Tensor& values : cases) {
    const Layout layout = Layout::batch(values.size(0), 0);
    const auto numbers = entry_numbers_by_table(values, tiny, huge, layout);
    ASSERT_TRUE(numbers.has_value());
    const Tensor x = values.cpu().to(at::kDouble).reshape({-1}), size = x.abs();
    const Tensor is_finite = torch::isfinite(x), finite = x.masked_select(is_finite);
    const auto count = [](const Tensor& flags) { return double(flags.sum().item<int64_t>()); };
    const double low = finite.numel() > 0 ? finite.min().item<double>() : infinity;
    const double high = finite.numel() > 0 ? finite.max().item<double>() : -infinity;
    const Tensor is_bad = is_finite.logical_not().reshape({values.size(0), -1}).any(1);
    const bool has_bad = is_bad.any().item<bool>();
    const double first = has_bad ? is_bad.to(at::kInt).argmax().item<double>() : infinity;
    const std::vector<double> expected = {double(x.numel()),
                                          x.sum().item<double>(),
                                          x.square().sum().item<double>(),
                                          x.pow(3).sum().item<double>(),
                                          x.pow(4).sum().item<double>(),
                                          count(is_finite.logical_not()),
                                          count(x == 0),
                                          count((size < tiny).logical_and(x != 0)),
                                          count((size > huge).logical_and(is_finite)),
                                          low,
                                          high,
                                          first};
    EXPECT_TRUE(torch::allclose(
        numbers->cpu(), torch::tensor(expected, at::kDouble), 1e-12, 1e-9, /*equal_nan=*/true))
        << values.sizes() << ": " << *numbers << " instead of " << expected;
  }
  EXPECT_FALSE(entry_numbers_by_table(torch::empty({0}, device()), tiny, huge).has_value());
}

// Samples in the middle of the places along a dimension, in any order of memory.
TEST_F(GpuTables, TellWhichSampleIsTheFirstWithAnEntryThatIsNotFinite) {
  const Layout layout = Layout::batch(/*N=*/5, /*dim=*/1, /*outer=*/2, /*inner=*/3);
  for (const bool is_transposed : {false, true}) {
    const Tensor values = is_transposed
                              ? random({4, 30, 7}).transpose(1, 2).contiguous().transpose(1, 2)
                              : random({4, 30, 7});
    ASSERT_EQ(values.size(1), layout.length());
    for (const int64_t sample : {4, 2, 0}) {
      values[3][(1 * 5 + sample) * 3 + 2][1] = std::numeric_limits<double>::quiet_NaN();
      const Tensor numbers = entry_numbers_by_table(values, 0, 1, layout)->cpu();
      EXPECT_EQ(numbers[11].item<double>(), double(sample)) << is_transposed;
    }
  }
}

}  // namespace
}  // namespace flightdeck

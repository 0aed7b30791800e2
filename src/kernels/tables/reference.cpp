// SPDX-License-Identifier: MIT
#include "kernels/tables/reference.h"

#include <algorithm>
#include <cmath>

#include "kernels/entry_sums/entry_sums.h"

namespace flightdeck::kernels::reference {
namespace {

double product(const float* x, long long stride, int length, int n, int m) {
  double sum = 0;
  for (int k = 0; k < length; ++k) {
    sum += static_cast<double>(x[n * stride + k]) * static_cast<double>(x[m * stride + k]);
  }
  return sum;
}

// Returns 0 below, 1 + bin, count + 1 above, count + 2 for NaN.
int raw_index(float x, const TableBins& bins) {
  if (std::isnan(x)) return bins.count + 2;
  if (x < bins.low) return 0;
  if (x > bins.high) return bins.count + 1;
  return 1 + std::min(static_cast<int>((x - bins.low) * bins.scale), bins.count - 1);
}

}  // namespace

bool gram_parts(const FactorTable& factors, int entries, int N, double* parts, double* squares) {
  const int tiles = (N + kGramTile - 1) / kGramTile;
  for (int e = 0; e < entries; ++e) {
    const Factors& own = factors.entry[e];
    double* of_entry = parts + static_cast<int64_t>(e) * tiles * N;
    std::fill_n(of_entry, static_cast<int64_t>(tiles) * N, 0.0);
    for (int n = 0; n < N; ++n) {
      for (int m = 0; m < N; ++m) {
        double gram = own.a ? product(own.a, own.a_stride, own.I, n, m) : 1;
        gram *= product(own.b, own.b_stride, own.J, n, m);
        of_entry[static_cast<int64_t>(m / kGramTile) * N + n] += gram;
        if (n == m) squares[static_cast<int64_t>(e) * N + n] = gram;
      }
    }
  }
  return true;
}

bool scatter(int entries,
             int N,
             double scale,
             const double* parts,
             const double* squares,
             double* dots,
             double* deviations,
             float* norms,
             double* squared_means) {
  const int tiles = (N + kGramTile - 1) / kGramTile;
  for (int e = 0; e < entries; ++e) {
    const int64_t first = static_cast<int64_t>(e) * N;
    double mean = 0;
    for (int n = 0; n < N; ++n) {
      double line = 0;
      for (int t = 0; t < tiles; ++t)
        line += parts[first * tiles + static_cast<int64_t>(t) * N + n];
      dots[first + n] = line / N;
      mean += line / N;
    }
    mean /= N;
    for (int n = 0; n < N; ++n) {
      const double deviation = squares[first + n] - 2 * dots[first + n] + mean;
      deviations[first + n] = deviation < 0 ? 0.0 : deviation;  // not fmax: NaN stays
      norms[first + n] = static_cast<float>(std::sqrt(squares[first + n]));
      dots[first + n] *= scale;
    }
    squared_means[e] = mean * scale;
  }
  return true;
}

bool slopes(const SlopeTable& entries, int N, float* slopes) {
  for (int e = 0; e < entries.entries; ++e) {
    const Slope& own = entries.entry[e];
    for (int n = 0; n < N; ++n) {
      double sum = 0;
      for (int t = 0; t < own.T; ++t) {
        const float* b = own.b + n * own.b_stride + t * own.b_position;
        const float* a = own.a ? own.a + n * own.a_stride + t * own.a_position : nullptr;
        for (int i = 0; i < own.I; ++i) {
          float mapped = 0;
          for (int j = 0; j < own.J; ++j) mapped += b[j] * own.u[i * own.u_i + j * own.u_j];
          sum += static_cast<double>(a ? a[i] : 1.0f) * mapped;
        }
      }
      slopes[static_cast<int64_t>(e) * N + n] = static_cast<float>(sum);
    }
  }
  return true;
}

namespace {

// Adds up the parts of one sum.
template <typename T, typename Total>
void add_parts(const SumTable& sums, int s) {
  auto* to = static_cast<T*>(sums.sum[s]);
  for (int64_t k = 0; k < sums.length[s]; ++k) {
    Total total = 0;
    for (int p = sums.first[s]; p < sums.first[s + 1]; ++p) {
      const auto value = static_cast<Total>(static_cast<const T*>(sums.part[p])[k]);
      total += sums.is_root[s] ? value * value : value;
    }
    if (sums.is_root[s]) total = static_cast<Total>(std::sqrt(static_cast<double>(total)));
    to[k] = static_cast<T>(total);
  }
}

}  // namespace

bool add_up(const SumTable& sums, int count) {
  for (int s = 0; s < count; ++s) {
    switch (sums.type[s]) {
      case ParcelType::kFloat:
        add_parts<float, double>(sums, s);
        break;
      case ParcelType::kDouble:
        add_parts<double, double>(sums, s);
        break;
      case ParcelType::kInt64:
        add_parts<int64_t, int64_t>(sums, s);
        break;
    }
  }
  return true;
}

bool count_products(
    const FactorTable& factors, int entries, int N, const TableBins& bins, int64_t* counts) {
  for (int e = 0; e < entries; ++e) {
    const Factors& own = factors.entry[e];
    int64_t* of_entry = counts + static_cast<int64_t>(e) * (bins.count + 3);
    for (int n = 0; n < N; ++n) {
      for (int i = 0; i < own.I; ++i) {
        for (int j = 0; j < own.J; ++j) {
          const float b = own.b[n * own.b_stride + j];
          ++of_entry[raw_index(own.a ? own.a[n * own.a_stride + i] * b : b, bins)];
        }
      }
    }
  }
  return true;
}

bool pack(const ParcelTable& parcels, int entries, double* list) {
  for (int e = 0; e < entries; ++e) {
    const Parcel& own = parcels.entry[e];
    for (int64_t k = 0; k < own.count; ++k) {
      double& to = list[own.first + k];
      switch (own.type) {
        case ParcelType::kFloat:
          to = static_cast<const float*>(own.from)[k];
          break;
        case ParcelType::kDouble:
          to = static_cast<const double*>(own.from)[k];
          break;
        case ParcelType::kInt64:
          to = static_cast<double>(static_cast<const int64_t*>(own.from)[k]);
          break;
      }
    }
  }
  return true;
}

bool sweep(const PairTable& pairs, double* sums) {
  for (int e = 0; e < pairs.entries; ++e) {
    const Pair& own = pairs.entry[e];
    double squares = 0, before = 0;
    for (int64_t k = 0; k < own.count; ++k) {
      const float x = own.x[k], y = own.y ? own.y[k] : 0.0f;
      const float difference = x - y;
      if (own.difference) own.difference[k] = difference;
      if (own.copy) own.copy[k] = x;
      squares += static_cast<double>(difference) * difference;
      before += static_cast<double>(y) * y;
    }
    sums[e] = squares;
    sums[pairs.entries + e] = before;
  }
  return true;
}

namespace {

template <typename Scalar>
double first_sample(const Scalar* x, const Entries& entries) {
  double first = __builtin_inf();
  for (long long k = 0; entries.samples > 0 && k < entries.count; ++k) {
    if (std::isfinite(x[k])) continue;
    first = std::min(first, static_cast<double>(k / entries.stride % entries.samples));
  }
  return first;
}

}  // namespace

bool entry_numbers(const Entries& entries, double* numbers) {
  EntrySums sums;
  double first = 0;
  if (entries.type == ParcelType::kFloat) {
    const auto* x = static_cast<const float*>(entries.x);
    add_entries<float>("reference")(x, entries.count, entries.tiny, entries.huge, sums);
    first = first_sample(x, entries);
  } else {
    const auto* x = static_cast<const double*>(entries.x);
    add_entries<double>("reference")(x, entries.count, entries.tiny, entries.huge, sums);
    first = first_sample(x, entries);
  }
  const double all[kEntryNumbers] = {static_cast<double>(entries.count),
                                     sums.sum,
                                     sums.squares,
                                     sums.cubes,
                                     sums.fourths,
                                     sums.not_finite,
                                     sums.zeros,
                                     sums.tiny,
                                     sums.huge,
                                     sums.low,
                                     sums.high,
                                     first};
  std::copy_n(all, kEntryNumbers, numbers);
  return true;
}

}  // namespace flightdeck::kernels::reference

// SPDX-License-Identifier: MIT
// The tile kernel, written once for every vector width. Each instruction set includes this file
// with its own vector types; all of it has internal linkage, and no standard library function is
// called.
//
// Cost model: an entry costs columns x vectors FMAs and columns + vectors loads; a tile of 9
// columns and 3 vectors is bound by its FMAs. Beside a dense product the entries that are zero are
// saved, and the lanes of a run's last vector that hold nothing are lost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "kernels/sparse_columns/variants.h"

namespace flightdeck::kernels {
namespace {

template <class Lanes, int Columns, int Vectors>
struct SparseTileKernel {
  using Scalar = typename Lanes::Scalar;
  using Vector = typename Lanes::Vector;
  static constexpr int L = Lanes::kLanes;
  using Sums = Vector[Columns][Vectors];

  static void squares(const SparseTile<Scalar>& tile) {
    Sums g = {};
    multiply(tile, g);
#pragma GCC unroll 4
    for (int v = 0; v < Vectors; ++v) {
      Vector total = Lanes::load(tile.to + v * L);
#pragma GCC unroll 16
      for (int k = 0; k < Columns; ++k) total = Lanes::fma(g[k][v], g[k][v], total);
      Lanes::store(tile.to + v * L, total);
    }
  }

  static void store(const SparseTile<Scalar>& tile) {
    Sums g = {};
    multiply(tile, g);
#pragma GCC unroll 16
    for (int k = 0; k < Columns; ++k)
#pragma GCC unroll 4
      for (int v = 0; v < Vectors; ++v) Lanes::store(tile.to + k * tile.to_column + v * L, g[k][v]);
  }

 private:
  static void multiply(const SparseTile<Scalar>& tile, Sums& g) {
    for (int64_t r = 0; r < tile.count; ++r) {
      const SparseRun<Scalar>& run = tile.runs[r];
      const Scalar* value = run.value + tile.column;
      for (int64_t e = 0; e < run.count; ++e, value += tile.K) {
        const Scalar* from = run.base + run.offset[e];
        Vector a[Vectors];
#pragma GCC unroll 4
        for (int v = 0; v < Vectors; ++v) a[v] = Lanes::load(from + v * L);
#pragma GCC unroll 16
        for (int k = 0; k < Columns; ++k) {
          const Vector factor = Lanes::broadcast(value[k]);
#pragma GCC unroll 4
          for (int v = 0; v < Vectors; ++v) g[k][v] = Lanes::fma(factor, a[v], g[k][v]);
        }
      }
    }
  }
};

template <class Lanes>
constexpr int tile_vectors(int columns) {
  const int fit = Lanes::kSums / columns;
  return fit < 4 ? fit : 4;
}

template <class Lanes>
int64_t most_vectors(int64_t columns) {
  return tile_vectors<Lanes>(int(columns));
}

template <class Lanes, bool kSquares, int Columns, size_t... V>
typename SparseKernel<typename Lanes::Scalar>::Run pick_vectors(int64_t vectors,
                                                                std::index_sequence<V...>) {
  using Run = typename SparseKernel<typename Lanes::Scalar>::Run;
  static constexpr Run kRuns[] = {(kSquares
                                       ? SparseTileKernel<Lanes, Columns, int(V) + 1>::squares
                                       : SparseTileKernel<Lanes, Columns, int(V) + 1>::store)...};
  return kRuns[vectors - 1];
}

template <class Lanes, bool kSquares, int Columns = 1>
typename SparseKernel<typename Lanes::Scalar>::Run pick(int64_t columns, int64_t vectors) {
  if constexpr (Columns < Lanes::kMostColumns)
    if (columns > Columns) return pick<Lanes, kSquares, Columns + 1>(columns, vectors);
  return pick_vectors<Lanes, kSquares, Columns>(
      vectors, std::make_index_sequence<tile_vectors<Lanes>(Columns)>{});
}

template <class Lanes>
int64_t find_entries(const typename Lanes::Scalar* const* lines,
                     int64_t K,
                     int64_t T,
                     int32_t* positions) {
  constexpr int L = Lanes::kLanes;
  int64_t count = 0, t = 0;
  for (; t + L <= T; t += L) {
    unsigned found = 0;
    for (int64_t k = 0; k < K; ++k) found |= Lanes::not_zero(Lanes::load(lines[k] + t));
    for (; found != 0; found &= found - 1)
      positions[count++] = int32_t(t) + int32_t(__builtin_ctz(found));
  }
  for (; t < T; ++t) {
    bool is_zero = true;
    for (int64_t k = 0; k < K; ++k) is_zero = is_zero && lines[k][t] == 0;
    if (!is_zero) positions[count++] = int32_t(t);
  }
  return count;
}

template <class Lanes>
constexpr SparseKernel<typename Lanes::Scalar> sparse_kernel() {
  return {Lanes::kLanes,
          Lanes::kMostColumns,
          most_vectors<Lanes>,
          pick<Lanes, true>,
          pick<Lanes, false>,
          find_entries<Lanes>};
}

}  // namespace
}  // namespace flightdeck::kernels

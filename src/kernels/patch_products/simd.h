// SPDX-License-Identifier: MIT
// The block kernel, written once for every vector width. Each instruction set includes this file
// with its own vector types; all of it has internal linkage, so that the linker cannot replace one
// instruction set's code by another's, and no standard library function is called.
//
// Cost model, per sample and block of I rows and W vectors of L columns:
//   FMA       T I W vector instructions; a tile of M rows keeps M W sums in registers
//   loads     T (W + M) per tile, so M W / (W + M) FMAs per load: 2.4 for 6 x 4, 1.6 for 8 x 2
//   packing   T W vectors of b, about 7 FMAs each when transposed, shared by I / M tiles
//   L2        W L Scalars of packed b per position and tile: 11 bytes per AVX-512 FMA at 6 x 4
//   epilogue  at most 5 M W loads and stores per tile, against T M W FMAs
// The expected bound is the FMA rate from T = 32 on; bench/patch_products_bench reports the rest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "kernels/patch_products/variants.h"

namespace flightdeck::kernels {
namespace {

template <class Lanes>
struct Transpose {
  using Vector = typename Lanes::Vector;
  static constexpr int L = Lanes::kLanes;

  // Swaps the off-diagonal S x S squares of each 2S x 2S square spread over two registers.
  template <int S, size_t... C>
  static void exchange(Vector& upper, Vector& lower, std::index_sequence<C...>) {
    const Vector x = upper, y = lower;
    upper = __builtin_shufflevector(x, y, int(C & S ? L + C - S : C)...);
    lower = __builtin_shufflevector(x, y, int(C & S ? L + C : C + S)...);
  }

  template <int S>
  static void exchange_all(Vector (&row)[L]) {
#pragma GCC unroll 16
    for (int r = 0; r < L; ++r)
      if ((r & S) == 0) exchange<S>(row[r], row[r + S], std::make_index_sequence<L>{});
  }

  static void run(Vector (&row)[L]) {
    exchange_all<1>(row);
    exchange_all<2>(row);
    if constexpr (L > 4) exchange_all<4>(row);
    if constexpr (L > 8) exchange_all<8>(row);
  }
};

// Returns the sum of all lanes in every lane.
template <class Lanes, int S = Lanes::kLanes / 2, size_t... C>
typename Lanes::Vector sum_lanes(typename Lanes::Vector x, std::index_sequence<C...> lanes) {
  x = x + __builtin_shufflevector(x, x, int(C ^ S)...);
  if constexpr (S > 1) x = sum_lanes<Lanes, S / 2>(x, lanes);
  return x;
}

// Copies columns [0, count) of one sample of b to a panel [T, width]; columns up to width are zero.
template <class Lanes>
class Packer {
 public:
  using Scalar = typename Lanes::Scalar;
  using Vector = typename Lanes::Vector;
  static constexpr int L = Lanes::kLanes;

  static void pack(const PatchProducts<Scalar>& work,
                   const Scalar* b,
                   int64_t count,
                   Scalar* panel,
                   int64_t width) {
    if (work.b_j == 1) {
      for (int64_t t = 0; t < work.T; ++t)
        copy_row(b + t * work.b_t, count, panel + t * width, width);
    } else if (work.b_t == 1 && work.T >= L) {
      for (int64_t j = 0; j < count; j += L)
        transpose(work, b + j * work.b_j, count - j, panel + j, width);
    } else {
      for (int64_t t = 0; t < work.T; ++t)
        for (int64_t j = 0; j < width; ++j)
          panel[t * width + j] = j < count ? b[t * work.b_t + j * work.b_j] : Scalar(0);
    }
  }

 private:
  static void copy_row(const Scalar* b, int64_t count, Scalar* to, int64_t width) {
    int64_t j = 0;
    for (; j + L <= count; j += L) Lanes::store(to + j, Lanes::load(b + j));
    for (; j < count; ++j) to[j] = b[j];
    for (; j < width; ++j) to[j] = Scalar(0);
  }

  static void transpose(const PatchProducts<Scalar>& work,
                        const Scalar* b,
                        int64_t count,
                        Scalar* to,
                        int64_t width) {
    int64_t t = 0;
    for (; t + L <= work.T; t += L) transpose_square(b + t, work.b_j, count, to + t * width, width);
    // The last square ends at T and may overlap its predecessor.
    if (t == work.T) return;
    t = work.T - L;
    transpose_square(b + t, work.b_j, count, to + t * width, width);
  }

  static void transpose_square(
      const Scalar* b, int64_t b_j, int64_t count, Scalar* to, int64_t width) {
    Vector row[L];
#pragma GCC unroll 16
    for (int j = 0; j < L; ++j) row[j] = j < count ? Lanes::load(b + j * b_j) : Vector{};
    Transpose<Lanes>::run(row);
#pragma GCC unroll 16
    for (int t = 0; t < L; ++t) Lanes::store(to + t * width, row[t]);
  }
};

void prefetch_next_line(const void* p) {
  __builtin_prefetch(reinterpret_cast<const void*>(reinterpret_cast<uintptr_t>(p) + 64));
}

template <typename Scalar>
struct Tile {
  const Scalar* a;  // one sample
  const int64_t* base;
  const int64_t* step;
  int64_t T;
  const Scalar* panel;   // [T, W L]
  int64_t last_count;    // columns of the last vector that exist
  Scalar* sum;           // [M, W L]
  Scalar* second;        // [M, W L]
  double* squared_norm;  // one sample
  Scalar* rows;          // M rows with stride J
  int64_t J;
};

template <class Lanes, int M, int W>
struct TileKernel {
  using Scalar = typename Lanes::Scalar;
  using Vector = typename Lanes::Vector;
  static constexpr int L = Lanes::kLanes;
  using Sums = Vector[M][W];

  static void run(const Tile<Scalar>& tile) {
    Sums g = {};
    multiply(tile, g);
    // Infinity times a zero of the padding is NaN: clear what no column stands for.
    const auto mask = Lanes::first(tile.last_count);
#pragma GCC unroll 8
    for (int m = 0; m < M; ++m) g[m][W - 1] = Lanes::keep(mask, g[m][W - 1]);
    if (tile.sum) add(tile.sum, g);
    if (tile.second) add_squares(tile.second, g);
    if (tile.squared_norm) *tile.squared_norm += squared_norm(g);
    if (tile.rows) store_rows(tile, g);
  }

 private:
  static void multiply(const Tile<Scalar>& tile, Sums& g) {
    const Scalar* a[M];
#pragma GCC unroll 8
    for (int m = 0; m < M; ++m) a[m] = tile.a + tile.base[m];
    const Scalar* panel = tile.panel;
    const int64_t* const end = tile.step + tile.T;
    for (const int64_t* step = tile.step; step != end; ++step, panel += W * L) {
      // The rows after this tile's are fetched early: at a large step no hardware prefetcher
      // follows, and the sequence layer of bench/patch_products_bench loses a sixth of its speed.
      prefetch_next_line(a[M - 1] + *step);
      Vector b[W];
#pragma GCC unroll 4
      for (int w = 0; w < W; ++w) b[w] = Lanes::load(panel + w * L);
#pragma GCC unroll 8
      for (int m = 0; m < M; ++m) {
        const Vector factor = Lanes::broadcast(a[m][*step]);
#pragma GCC unroll 4
        for (int w = 0; w < W; ++w) g[m][w] = Lanes::fma(factor, b[w], g[m][w]);
      }
    }
  }

  static void add(Scalar* to, const Sums& g) {
#pragma GCC unroll 8
    for (int m = 0; m < M; ++m)
#pragma GCC unroll 4
      for (int w = 0; w < W; ++w, to += L) Lanes::store(to, Lanes::load(to) + g[m][w]);
  }

  static void add_squares(Scalar* to, const Sums& g) {
#pragma GCC unroll 8
    for (int m = 0; m < M; ++m)
#pragma GCC unroll 4
      for (int w = 0; w < W; ++w, to += L)
        Lanes::store(to, Lanes::fma(g[m][w], g[m][w], Lanes::load(to)));
  }

  // Returns the squared norm: per lane at most M W squares are added in Scalar; across tiles the
  // sum is in double.
  static double squared_norm(const Sums& g) {
    Vector squares[W] = {};
#pragma GCC unroll 8
    for (int m = 0; m < M; ++m)
#pragma GCC unroll 4
      for (int w = 0; w < W; ++w) squares[w] = Lanes::fma(g[m][w], g[m][w], squares[w]);
#pragma GCC unroll 4
    for (int w = 1; w < W; ++w) squares[0] = squares[0] + squares[w];
    return sum_lanes<Lanes>(squares[0], std::make_index_sequence<L>{})[0];
  }

  static void store_rows(const Tile<Scalar>& tile, const Sums& g) {
    const auto mask = Lanes::first(tile.last_count);
#pragma GCC unroll 8
    for (int m = 0; m < M; ++m) {
      Scalar* to = tile.rows + m * tile.J;
#pragma GCC unroll 4
      for (int w = 0; w < W - 1; ++w) Lanes::store(to + w * L, g[m][w]);
      // AVX2 masked stores take several times as long as whole ones.
      if (tile.last_count == L) {
        Lanes::store(to + (W - 1) * L, g[m][W - 1]);
      } else {
        Lanes::store(to + (W - 1) * L, mask, g[m][W - 1]);
      }
    }
  }
};

// Returns the rows of a tile: what the registers hold, and at most 8, the pointers to a that fit
// beside the loop's own.
template <class Lanes>
constexpr int tile_rows(int vectors) {
  const int rows = Lanes::kAccumulators / vectors;
  return rows < 8 ? rows : 8;
}

template <typename Scalar>
using TileFunction = void (*)(const Tile<Scalar>&);

template <class Lanes, int W, size_t... M>
TileFunction<typename Lanes::Scalar> find_tile(int64_t rows, std::index_sequence<M...>) {
  static constexpr TileFunction<typename Lanes::Scalar> kTiles[] = {
      TileKernel<Lanes, int(M) + 1, W>::run...};
  return kTiles[rows - 1];
}

template <class Lanes, int W = 1>
TileFunction<typename Lanes::Scalar> find_tile(int64_t rows, int64_t vectors) {
  if constexpr (W < Lanes::kMaxVectors)
    if (vectors > W) return find_tile<Lanes, W + 1>(rows, vectors);
  return find_tile<Lanes, W>(rows, std::make_index_sequence<tile_rows<Lanes>(W)>{});
}

template <class Lanes>
struct BlockRunner {
  using Scalar = typename Lanes::Scalar;
  static constexpr int L = Lanes::kLanes;

  const PatchProducts<Scalar>& work;
  const Block<Scalar>& block;
  const int64_t vectors = (block.j_count + L - 1) / L;
  const int64_t width = vectors * L;

  static void run(const PatchProducts<Scalar>& work, const Block<Scalar>& block) {
    const BlockRunner runner{work, block};
    for (int64_t n = 0; n < work.N; n += block.panel_samples) {
      const int64_t end = n + block.panel_samples < work.N ? n + block.panel_samples : work.N;
      runner.pack(n, end);
      runner.multiply(n, end);
    }
  }

  void pack(int64_t n0, int64_t n1) const {
    for (int64_t n = n0; n < n1; ++n) {
      Scalar* panel = block.panels + (n - n0) * work.T * width;
      const Scalar* b = work.b + n * work.b_sample + block.j0 * work.b_j;
      Packer<Lanes>::pack(work, b, block.j_count, panel, width);
    }
  }

  // Visits the samples of one tile in turn: its part of sum and second stays in the first-level
  // cache. Tiles are of even height, because a low one loads as much of b as a high one.
  void multiply(int64_t n0, int64_t n1) const {
    const int64_t rows = tile_rows<Lanes>(int(vectors));
    const int64_t tiles = (block.i_count + rows - 1) / rows;
    for (int64_t k = 0; k < tiles; ++k) {
      const int64_t i = k * block.i_count / tiles, end = (k + 1) * block.i_count / tiles;
      const auto run_tile = find_tile<Lanes>(end - i, vectors);
      for (int64_t n = n0; n < n1; ++n) run_tile(tile(n, n - n0, i));
    }
  }

  Tile<Scalar> tile(int64_t n, int64_t panel, int64_t i) const {
    Tile<Scalar> tile;
    tile.a = work.a_of(n);
    tile.base = work.base + block.i0 + i;
    tile.step = work.step;
    tile.T = work.T;
    tile.panel = block.panels + panel * work.T * width;
    tile.last_count = block.j_count - (vectors - 1) * L;
    tile.sum = block.sum ? block.sum + i * width : nullptr;
    tile.second = block.second ? block.second + i * width : nullptr;
    tile.squared_norm = block.squared_norms ? block.squared_norms + n : nullptr;
    const int64_t row = n * work.rows_sample + (block.i0 + i) * work.J + block.j0;
    tile.rows = work.rows ? work.rows + row : nullptr;
    tile.J = work.J;
    return tile;
  }
};

template <class Lanes>
constexpr BlockKernel<typename Lanes::Scalar> block_kernel() {
  return {Lanes::kLanes, Lanes::kMaxVectors, BlockRunner<Lanes>::run};
}

}  // namespace
}  // namespace flightdeck::kernels

// SPDX-License-Identifier: MIT
// Cuts the [I, J] plane into tasks, gives each its scratch and gathers what they return. Compiled
// for the baseline processor: the standard library stays out of the files of one instruction set,
// because the linker may keep their copy of an inline function.
//
// A task owns its part of sum and second and visits all samples, so threads share no output but the
// norms, which are added in task order.
#include <algorithm>
#include <limits>
#include <new>
#include <vector>

#include "kernels/patch_products/variants.h"

namespace flightdeck::kernels {
namespace {

// Packed b stays in the second-level cache (1 MB or more on processors with AVX-512, 256 KB on the
// oldest with AVX2).
constexpr int64_t kPanelBytes = 128 * 1024;

constexpr size_t kAlignment = 64;

int64_t ceil_div(int64_t x, int64_t y) { return (x + y - 1) / y; }

struct Cut {
  int64_t i_blocks = 1, j_blocks = 1;
};

// Minimises the time of the slowest thread, in FMA instructions per sample and position. Packing a
// vector of b costs about seven FMAs, paid by each block of rows; a block one vector wide is
// limited by loads.
Cut choose_cut(int64_t I, int64_t vectors, int64_t max_vectors, int threads) {
  constexpr double kPackingCost = 7, kNarrowPenalty = 1.25;
  Cut best;
  double best_time = std::numeric_limits<double>::infinity();
  const int64_t fewest = ceil_div(vectors, max_vectors);
  for (int64_t j_blocks = fewest; j_blocks <= std::min(vectors, fewest * threads); ++j_blocks) {
    for (int64_t i_blocks = 1; i_blocks <= std::min<int64_t>(I, threads); ++i_blocks) {
      const int64_t width = ceil_div(vectors, j_blocks);
      const double task_time = double(width) * (double(ceil_div(I, i_blocks)) + kPackingCost) *
                               (width == 1 ? kNarrowPenalty : 1.0);
      const double time = task_time * double(ceil_div(j_blocks * i_blocks, threads));
      if (time < best_time) {
        best_time = time;
        best.i_blocks = i_blocks;
        best.j_blocks = j_blocks;
      }
    }
  }
  return best;
}

// Grows and never shrinks: a buffer freed after each call is returned to the operating system and
// its pages are faulted in again by the next.
template <typename Scalar>
class Scratch {
 public:
  Scratch() = default;
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { ::operator delete(start_, std::align_val_t(kAlignment)); }

  Scalar* reserve(int64_t size) {
    if (size <= size_) return start_;
    ::operator delete(start_, std::align_val_t(kAlignment));
    start_ = nullptr;
    size_ = 0;
    start_ = static_cast<Scalar*>(
        ::operator new(size_t(size) * sizeof(Scalar), std::align_val_t(kAlignment)));
    size_ = size;
    return start_;
  }

 private:
  Scalar* start_ = nullptr;
  int64_t size_ = 0;
};

template <typename Scalar>
Block<Scalar> make_block(const PatchProducts<Scalar>& work, int64_t lanes, Cut cut, int64_t task) {
  const int64_t vectors = ceil_div(work.J, lanes);
  const int64_t jb = task / cut.i_blocks, ib = task % cut.i_blocks;
  Block<Scalar> block;
  block.i0 = ib * work.I / cut.i_blocks;
  block.i_count = (ib + 1) * work.I / cut.i_blocks - block.i0;
  block.j0 = jb * vectors / cut.j_blocks * lanes;
  block.j_count = std::min((jb + 1) * vectors / cut.j_blocks * lanes, work.J) - block.j0;
  return block;
}

template <typename Scalar>
void copy_out(
    const Block<Scalar>& block, const Scalar* from, int64_t width, Scalar* to, int64_t J) {
  for (int64_t i = 0; i < block.i_count; ++i)
    std::copy_n(from + i * width, block.j_count, to + (block.i0 + i) * J + block.j0);
}

template <typename Scalar>
void run_block(const PatchProducts<Scalar>& work,
               const BlockKernel<Scalar>& kernel,
               Block<Scalar> block) {
  thread_local Scratch<Scalar> scratch;
  const int64_t width = ceil_div(block.j_count, kernel.lanes) * kernel.lanes;
  const int64_t panel = work.T * width, tile = block.i_count * width;
  const int64_t affordable = kPanelBytes / (panel * int64_t(sizeof(Scalar)));
  block.panel_samples = std::clamp<int64_t>(affordable, 1, work.N);

  Scalar* start = scratch.reserve(2 * tile + block.panel_samples * panel);
  std::fill(start, start + 2 * tile, Scalar(0));
  block.sum = work.sum ? start : nullptr;
  block.second = work.second ? start + tile : nullptr;
  block.panels = start + 2 * tile;
  kernel.run(work, block);
  if (work.sum) copy_out(block, block.sum, width, work.sum, work.J);
  if (work.second) copy_out(block, block.second, width, work.second, work.J);
}

}  // namespace

template <typename Scalar>
void run_blocked(const PatchProducts<Scalar>& work,
                 const BlockKernel<Scalar>& kernel,
                 const ParallelFor& parallel_for,
                 int threads) {
  // Long samples are taken in narrower blocks.
  const int64_t affordable = kPanelBytes / (work.T * kernel.lanes * int64_t(sizeof(Scalar)));
  const int64_t max_vectors = std::clamp<int64_t>(affordable, 1, kernel.max_vectors);
  const int64_t vectors = ceil_div(work.J, kernel.lanes);
  const Cut cut = choose_cut(work.I, vectors, max_vectors, std::max(threads, 1));
  const int64_t tasks = cut.i_blocks * cut.j_blocks;
  std::vector<double> squared_norms(work.squared_norms ? size_t(tasks * work.N) : 0, 0.0);
  parallel_for(tasks, [&](int64_t task) {
    Block<Scalar> block = make_block(work, kernel.lanes, cut, task);
    if (work.squared_norms) block.squared_norms = squared_norms.data() + task * work.N;
    run_block(work, kernel, block);
  });

  if (!work.squared_norms) return;
  for (int64_t n = 0; n < work.N; ++n) {
    work.squared_norms[n] = 0;
    for (int64_t task = 0; task < tasks; ++task)
      work.squared_norms[n] += squared_norms[size_t(task * work.N + n)];
  }
}

template void run_blocked(const PatchProducts<float>&,
                          const BlockKernel<float>&,
                          const ParallelFor&,
                          int);
template void run_blocked(const PatchProducts<double>&,
                          const BlockKernel<double>&,
                          const ParallelFor&,
                          int);

}  // namespace flightdeck::kernels

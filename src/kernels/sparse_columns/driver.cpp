// SPDX-License-Identifier: MIT
// Collects the entries that are not zero and hands them to the tile kernels. Compiled for the
// baseline processor: the standard library stays out of the files of one instruction set.
//
// A task owns what it writes, channels of the squares or samples of the inputs, so that every sum
// has one order whatever the number of threads.
#include <algorithm>
#include <vector>

#include "kernels/sparse_columns/variants.h"

namespace flightdeck::kernels {
namespace {

// What a task writes again and again stays in the second-level cache.
constexpr int64_t kBlockBytes = 256 * 1024;

int64_t ceil_div(int64_t x, int64_t y) { return (x + y - 1) / y; }

// Cuts `count` into the fewest parts of at most `most`, all of nearly the same size.
int64_t even_part(int64_t count, int64_t most) {
  return ceil_div(count, ceil_div(count, std::max<int64_t>(1, most)));
}

// Holds the entries of one sample that are not zero. Grows and never shrinks, but for what one
// large layer took.
template <typename Scalar>
struct Entries {
  static constexpr size_t kMostKept = size_t{4} << 20;

  std::vector<const Scalar*> lines;
  std::vector<int32_t> positions, offset;
  std::vector<Scalar> value;
  std::vector<int64_t> channel, begin, next;  // the last three of the inputs alone
  std::vector<SparseRun<Scalar>> runs;
  std::vector<Scalar> block;

  // Points the lines at channel 0 of a sample of the columns b.
  template <typename Column>
  void set_lines(int64_t K, const Column& column) {
    lines.resize(size_t(K));
    for (int64_t k = 0; k < K; ++k) lines[size_t(k)] = column(k);
  }
  void next_channel(int64_t T) {
    for (const Scalar*& line : lines) line += T;
  }
  void release_large() {
    if (value.capacity() > kMostKept) *this = Entries();
  }
};

template <typename Scalar>
Entries<Scalar>& entries_of_thread() {
  thread_local Entries<Scalar> entries;
  return entries;
}

// Computes the squares of channels [begin, end).
template <typename Scalar>
void square_channels(const SparseSquares<Scalar>& work,
                     const SparseKernel<Scalar>& kernel,
                     int64_t begin,
                     int64_t end) {
  Entries<Scalar>& entries = entries_of_thread<Scalar>();
  const int64_t K = work.K, T = work.T;
  const int64_t columns = even_part(K, kernel.most_columns);
  const int64_t all_vectors = ceil_div(work.run, kernel.lanes), width = all_vectors * kernel.lanes;
  const int64_t vectors = even_part(all_vectors, kernel.most_vectors(columns));
  entries.positions.resize(size_t(T));
  entries.offset.resize(size_t(T));
  entries.value.resize(size_t(T * K));
  entries.block.assign(size_t((end - begin) * work.runs * width), Scalar(0));
  for (int64_t n = 0; n < work.N; ++n) {
    const Scalar* a = work.a + n * work.a_sample;
    entries.set_lines(K, [&](int64_t k) { return work.b[k] + (n * work.J + begin) * T; });
    Scalar* to = entries.block.data();
    for (int64_t j = begin; j < end; ++j, entries.next_channel(T)) {
      const int64_t count = kernel.find(entries.lines.data(), K, T, entries.positions.data());
      for (int64_t e = 0; e < count; ++e) {
        const int32_t t = entries.positions[size_t(e)];
        entries.offset[size_t(e)] = int32_t(work.step[t]);
        Scalar* value = entries.value.data() + e * K;
        for (int64_t k = 0; k < K; ++k) value[k] = entries.lines[size_t(k)][t];
      }
      for (int64_t r = 0; r < work.runs; ++r, to += width) {
        for (int64_t v = 0; v < all_vectors && count > 0; v += vectors) {
          const int64_t here = std::min(vectors, all_vectors - v), from = v * kernel.lanes;
          const SparseRun<Scalar> run = {
              a + work.base[r] + from, entries.offset.data(), entries.value.data(), count};
          for (int64_t k = 0; k < K; k += columns) {
            const SparseTile<Scalar> tile = {&run, 1, K, k, to + from, 0};
            kernel.squares(std::min(columns, K - k), here)(tile);
          }
        }
      }
    }
  }
  const Scalar* from = entries.block.data();
  for (int64_t r = begin * work.runs; r < end * work.runs; ++r, from += width)
    std::copy_n(from, work.run, work.squares + r * work.run);
  entries.release_large();
}

// Sorts the entries of sample n by position; those of one position are in the order of channels.
template <typename Scalar>
void sort_by_position(const SparseInputs<Scalar>& work,
                      const SparseKernel<Scalar>& kernel,
                      int64_t n,
                      Entries<Scalar>& entries) {
  const int64_t K = work.K, J = work.J, T = work.T;
  const auto column = [&](int64_t k) { return work.b + (k * work.N + n) * J * T; };
  entries.channel.assign(size_t(J + 1), 0);
  entries.begin.assign(size_t(T + 1), 0);
  entries.set_lines(K, column);
  int64_t count = 0;
  for (int64_t j = 0; j < J; ++j, entries.next_channel(T)) {
    entries.positions.resize(size_t(count + T));
    count += kernel.find(entries.lines.data(), K, T, entries.positions.data() + count);
    entries.channel[size_t(j + 1)] = count;
  }
  for (int64_t e = 0; e < count; ++e) ++entries.begin[size_t(entries.positions[size_t(e)] + 1)];
  for (int64_t t = 0; t < T; ++t) entries.begin[size_t(t + 1)] += entries.begin[size_t(t)];
  entries.next = entries.begin;
  entries.offset.resize(size_t(count));
  entries.value.resize(size_t(count * K));
  entries.set_lines(K, column);
  for (int64_t j = 0; j < J; ++j, entries.next_channel(T)) {
    const auto offset = int32_t(j * work.offsets * work.C);
    for (int64_t e = entries.channel[size_t(j)]; e < entries.channel[size_t(j + 1)]; ++e) {
      const int32_t t = entries.positions[size_t(e)];
      const int64_t slot = entries.next[size_t(t)]++;
      entries.offset[size_t(slot)] = offset;
      Scalar* value = entries.value.data() + slot * K;
      for (int64_t k = 0; k < K; ++k) value[k] = entries.lines[size_t(k)][t];
    }
  }
}

// Collects the entries that reach position p, for channels from c on.
template <typename Scalar>
void collect_runs(const SparseInputs<Scalar>& work,
                  int64_t p,
                  int64_t c,
                  Entries<Scalar>& entries) {
  entries.runs.clear();
  for (int64_t r = work.first[p]; r < work.first[p + 1]; ++r) {
    const auto [t, o] = work.pairs[r];
    const int64_t begin = entries.begin[size_t(t)], end = entries.begin[size_t(t) + 1];
    if (begin == end) continue;
    entries.runs.push_back({work.w + o * work.C + c,
                            entries.offset.data() + begin,
                            entries.value.data() + begin * work.K,
                            end - begin});
  }
}

// Computes the input gradients of sample n.
template <typename Scalar>
void send_back(const SparseInputs<Scalar>& work, const SparseKernel<Scalar>& kernel, int64_t n) {
  Entries<Scalar>& entries = entries_of_thread<Scalar>();
  sort_by_position(work, kernel, n, entries);
  const int64_t K = work.K, C = work.C, P = work.P, L = kernel.lanes;
  const int64_t columns = even_part(K, kernel.most_columns);
  const int64_t all_vectors = ceil_div(C, L);
  const int64_t vectors = even_part(all_vectors, kernel.most_vectors(columns));
  const int64_t width = vectors * L;
  const int64_t affordable = kBlockBytes / (K * width * int64_t(sizeof(Scalar)));
  const int64_t positions = std::clamp<int64_t>(affordable, 1, P);
  entries.block.resize(size_t(K * positions * width));
  for (int64_t v = 0; v < all_vectors; v += vectors) {
    const int64_t here = std::min(vectors, all_vectors - v), c0 = v * L;
    const int64_t channels = std::min(here * L, C - c0);
    for (int64_t p0 = 0; p0 < P; p0 += positions) {
      const int64_t count = std::min(positions, P - p0);
      for (int64_t p = 0; p < count; ++p) {
        collect_runs(work, p0 + p, c0, entries);
        for (int64_t k = 0; k < K; k += columns) {
          const SparseTile<Scalar> tile = {entries.runs.data(),
                                           int64_t(entries.runs.size()),
                                           K,
                                           k,
                                           entries.block.data() + (k * positions + p) * width,
                                           positions * width};
          kernel.store(std::min(columns, K - k), here)(tile);
        }
      }
      for (int64_t k = 0; k < K; ++k) {
        const Scalar* from = entries.block.data() + k * positions * width;
        Scalar* to = work.x + ((k * work.N + n) * C + c0) * P + p0;
        for (int64_t c = 0; c < channels; ++c, to += P)
          for (int64_t p = 0; p < count; ++p) to[p] = from[p * width + c];
      }
    }
  }
  entries.release_large();
}

const SparseKernel<float>& kernel_of(const SparseKernels& kernels, float) { return kernels.f32; }
const SparseKernel<double>& kernel_of(const SparseKernels& kernels, double) { return kernels.f64; }

// Returns how many channels a task takes: their sums stay in the cache, and threads end together.
template <typename Work, typename Scalar>
int64_t channels_at_once(const Work& work, const SparseKernel<Scalar>& kernel, int threads) {
  const int64_t bytes = work.runs * (work.run + kernel.lanes) * int64_t(sizeof(Scalar));
  const int64_t fair = ceil_div(work.J, 2 * std::max(threads, 1));
  return std::clamp<int64_t>(kBlockBytes / std::max<int64_t>(1, bytes), 1, fair);
}

}  // namespace

template <typename Scalar>
void run_sparse_squares(const SparseSquares<Scalar>& work,
                        const SparseKernels* kernels,
                        const ParallelFor& parallel_for,
                        int threads) {
  const bool is_empty = work.K == 0 || work.N == 0 || work.J == 0 || work.T == 0;
  if (kernels == nullptr || is_empty) return run_reference(work);
  const SparseKernel<Scalar>& kernel = kernel_of(*kernels, Scalar());
  const int64_t block = channels_at_once(work, kernel, threads);
  parallel_for(ceil_div(work.J, block), [&](int64_t task) {
    square_channels(work, kernel, task * block, std::min(work.J, (task + 1) * block));
  });
}

template <typename Scalar>
void run_sparse_inputs(const SparseInputs<Scalar>& work,
                       const SparseKernels* kernels,
                       const ParallelFor& parallel_for) {
  const bool is_empty = work.K == 0 || work.N == 0 || work.J == 0 || work.C == 0;
  if (kernels == nullptr || is_empty) return run_reference(work);
  const SparseKernel<Scalar>& kernel = kernel_of(*kernels, Scalar());
  parallel_for(work.N, [&](int64_t n) { send_back(work, kernel, n); });
}

template void run_sparse_squares(const SparseSquares<float>&,
                                 const SparseKernels*,
                                 const ParallelFor&,
                                 int);
template void run_sparse_squares(const SparseSquares<double>&,
                                 const SparseKernels*,
                                 const ParallelFor&,
                                 int);
template void run_sparse_inputs(const SparseInputs<float>&,
                                const SparseKernels*,
                                const ParallelFor&);
template void run_sparse_inputs(const SparseInputs<double>&,
                                const SparseKernels*,
                                const ParallelFor&);

}  // namespace flightdeck::kernels

// SPDX-License-Identifier: MIT
// Cost: one multiplication, a subtraction, a multiplication and a few comparisons per entry, no
// memory traffic to speak of for outer products: bound by instructions, about 20 per entry. Nearly
// all entries lie in the two bins around zero; each thread counts those in registers, the others go
// to a table in shared memory, and tables are added up at the end of a block.
#include "kernels/counting/gpu.h"

namespace flightdeck::kernels {
namespace {

constexpr int kThreads = 256;
constexpr int kBlocks = 132 * 8;  // a few per multiprocessor of a large GPU

// Single operations, rounded one by one: the compiler must not fuse them.
__device__ float times(float a, float b) { return __fmul_rn(a, b); }
__device__ double times(double a, double b) { return __dmul_rn(a, b); }
__device__ float minus(float a, float b) { return __fsub_rn(a, b); }
__device__ double minus(double a, double b) { return __dsub_rn(a, b); }

// 0 below, 1 + bin, count + 1 above, count + 2 for NaN.
template <typename Scalar>
__device__ int raw_index(Scalar x, const EqualBins<Scalar>& bins) {
  if (isnan(x)) return bins.count + 2;
  if (x < bins.low) return 0;
  if (x > bins.high) return bins.count + 1;
  const int bin = static_cast<int>(times(minus(x, bins.low), bins.scale));
  return 1 + min(bin, bins.count - 1);
}

template <typename Scalar>
__device__ Scalar clamped(Scalar x, const EqualBins<Scalar>& bins) {
  if (x < bins.low) return bins.low;
  return x > bins.high ? bins.high : x;  // NaN stays
}

__device__ void add(unsigned* table, int index, unsigned count) {
  if (count != 0) atomicAdd(table + index, count);
}

__device__ void flush(const unsigned* table, int size, int64_t* counts) {
  __syncthreads();
  for (int k = threadIdx.x; k < size; k += blockDim.x) {
    if (table[k] != 0) {
      atomicAdd(reinterpret_cast<unsigned long long*>(counts + k),
                static_cast<unsigned long long>(table[k]));
    }
  }
}

__device__ void clear(unsigned* table, int size) {
  for (int k = threadIdx.x; k < size; k += blockDim.x) table[k] = 0;
  __syncthreads();
}

// Counts what `next` gives for every k < n: raw indices.
template <typename Index>
__global__ void count_kernel(int64_t n, int size, int centre, Index index, int64_t* counts) {
  extern __shared__ unsigned table[];
  clear(table, size);
  unsigned at_centre = 0, below_centre = 0;
  const int64_t stride = int64_t{gridDim.x} * blockDim.x;
  for (int64_t k = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; k < n; k += stride) {
    const int found = index(k);
    if (found == centre) {
      ++at_centre;
    } else if (found == centre - 1) {
      ++below_centre;
    } else {
      atomicAdd(table + found, 1u);
    }
  }
  add(table, centre, at_centre);
  if (centre > 0) add(table, centre - 1, below_centre);
  flush(table, size, counts);
}

// A block takes one sample and every so many of its lines; b_j stays in a register for all of them.
template <typename Scalar>
__global__ void count_outer_kernel(const Scalar* a,
                                   const Scalar* b,
                                   int64_t I,
                                   int64_t J,
                                   int centre,
                                   EqualBins<Scalar> bins,
                                   int64_t* counts) {
  extern __shared__ unsigned table[];
  const int size = bins.count + 3;
  clear(table, size);
  unsigned at_centre = 0, below_centre = 0;
  const Scalar* a_n = a + blockIdx.y * I;
  const Scalar* b_n = b + blockIdx.y * J;
  for (int64_t j = threadIdx.x; j < J; j += blockDim.x) {
    const Scalar factor = b_n[j];
    for (int64_t i = blockIdx.x; i < I; i += gridDim.x) {
      const int found = raw_index(times(a_n[i], factor), bins);
      if (found == centre) {
        ++at_centre;
      } else if (found == centre - 1) {
        ++below_centre;
      } else {
        atomicAdd(table + found, 1u);
      }
    }
  }
  add(table, centre, at_centre);
  if (centre > 0) add(table, centre - 1, below_centre);
  flush(table, size, counts);
}

// A thread takes one entry of the parameter and all of its N gradients.
template <typename Scalar, typename Entry>
__global__ void joint_kernel(int64_t N,
                             int64_t d,
                             const int32_t* value_bin,
                             int value_bins,
                             int centre,
                             EqualBins<Scalar> bins,
                             Entry entry,
                             int64_t* counts) {
  extern __shared__ unsigned table[];
  const int size = bins.count * value_bins;
  clear(table, size);
  const int64_t stride = int64_t{gridDim.x} * blockDim.x;
  for (int64_t e = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; e < d; e += stride) {
    const int value = value_bin[e];
    if (value < 0 || value >= value_bins) continue;
    unsigned at_centre = 0, below_centre = 0;
    for (int64_t n = 0; n < N; ++n) {
      const Scalar x = entry(n, e);
      if (isnan(x)) continue;
      const int found = raw_index(clamped(x, bins), bins) - 1;
      if (found == centre) {
        ++at_centre;
      } else if (found == centre - 1) {
        ++below_centre;
      } else {
        atomicAdd(table + found * value_bins + value, 1u);
      }
    }
    add(table, centre * value_bins + value, at_centre);
    if (centre > 0) add(table, (centre - 1) * value_bins + value, below_centre);
  }
  flush(table, size, counts);
}

// The raw index of zero, on the host.
template <typename Scalar>
int index_of_zero(const EqualBins<Scalar>& bins) {
  if (0 < bins.low) return 0;
  if (0 > bins.high) return bins.count + 1;
  const Scalar distance = 0 - bins.low;
  const int bin = static_cast<int>(distance * bins.scale);
  return 1 + (bin < bins.count ? bin : bins.count - 1);
}

// The same of zero clamped into the range, counted from 0.
template <typename Scalar>
int clamped_bin_of_zero(const EqualBins<Scalar>& bins) {
  const int index = index_of_zero(bins);
  if (index == 0) return 0;
  return index > bins.count ? bins.count - 1 : index - 1;
}

int blocks_for(int64_t threads) {
  const int64_t blocks = (threads + kThreads - 1) / kThreads;
  return static_cast<int>(blocks < kBlocks ? blocks : kBlocks);
}

template <typename Scalar, typename Entry>
void launch_joint(int64_t N,
                  int64_t d,
                  const int32_t* value_bin,
                  int64_t value_bins,
                  const EqualBins<Scalar>& bins,
                  Entry entry,
                  int64_t* counts,
                  void* stream) {
  const size_t bytes = sizeof(unsigned) * bins.count * value_bins;
  joint_kernel<<<blocks_for(d), kThreads, bytes, static_cast<cudaStream_t>(stream)>>>(
      N,
      d,
      value_bin,
      static_cast<int>(value_bins),
      clamped_bin_of_zero(bins),
      bins,
      entry,
      counts);
}

template <typename Scalar>
struct WrittenEntry {
  const Scalar* rows;
  int64_t d;
  __device__ Scalar operator()(int64_t n, int64_t e) const { return rows[n * d + e]; }
};

template <typename Scalar>
struct OuterEntry {
  const Scalar *a, *b;
  int64_t I, J;
  __device__ Scalar operator()(int64_t n, int64_t e) const {
    return times(a[n * I + e / J], b[n * J + e % J]);
  }
};

template <typename Scalar>
struct WrittenIndex {
  const Scalar* x;
  EqualBins<Scalar> bins;
  __device__ int operator()(int64_t k) const { return raw_index(x[k], bins); }
};

}  // namespace

template <typename Scalar>
void gpu_count(
    const Scalar* x, int64_t n, const EqualBins<Scalar>& bins, int64_t* counts, void* stream) {
  const int size = bins.count + 3;
  count_kernel<<<blocks_for(n),
                 kThreads,
                 sizeof(unsigned) * size,
                 static_cast<cudaStream_t>(stream)>>>(
      n, size, index_of_zero(bins), WrittenIndex<Scalar>{x, bins}, counts);
}

template <typename Scalar>
void gpu_count_outer(const Scalar* a,
                     const Scalar* b,
                     int64_t N,
                     int64_t I,
                     int64_t J,
                     const EqualBins<Scalar>& bins,
                     int64_t* counts,
                     void* stream) {
  const int64_t lines = 1 + kBlocks / N;
  const dim3 grid(static_cast<unsigned>(lines < I ? lines : I), static_cast<unsigned>(N));
  count_outer_kernel<<<grid,
                       kThreads,
                       sizeof(unsigned) * (bins.count + 3),
                       static_cast<cudaStream_t>(stream)>>>(
      a, b, I, J, index_of_zero(bins), bins, counts);
}

template <typename Scalar>
void gpu_count_joint(const Scalar* rows,
                     int64_t N,
                     int64_t d,
                     const int32_t* value_bin,
                     int64_t value_bins,
                     const EqualBins<Scalar>& bins,
                     int64_t* counts,
                     void* stream) {
  launch_joint(N, d, value_bin, value_bins, bins, WrittenEntry<Scalar>{rows, d}, counts, stream);
}

template <typename Scalar>
void gpu_count_outer_joint(const Scalar* a,
                           const Scalar* b,
                           int64_t N,
                           int64_t I,
                           int64_t J,
                           const int32_t* value_bin,
                           int64_t value_bins,
                           const EqualBins<Scalar>& bins,
                           int64_t* counts,
                           void* stream) {
  const OuterEntry<Scalar> entry{a, b, I, J};
  launch_joint(N, I * J, value_bin, value_bins, bins, entry, counts, stream);
}

#define FLIGHTDECK_INSTANTIATE(Scalar)                                                        \
  template void gpu_count(const Scalar*, int64_t, const EqualBins<Scalar>&, int64_t*, void*); \
  template void gpu_count_outer(const Scalar*,                                                \
                                const Scalar*,                                                \
                                int64_t,                                                      \
                                int64_t,                                                      \
                                int64_t,                                                      \
                                const EqualBins<Scalar>&,                                     \
                                int64_t*,                                                     \
                                void*);                                                       \
  template void gpu_count_joint(const Scalar*,                                                \
                                int64_t,                                                      \
                                int64_t,                                                      \
                                const int32_t*,                                               \
                                int64_t,                                                      \
                                const EqualBins<Scalar>&,                                     \
                                int64_t*,                                                     \
                                void*);                                                       \
  template void gpu_count_outer_joint(const Scalar*,                                          \
                                      const Scalar*,                                          \
                                      int64_t,                                                \
                                      int64_t,                                                \
                                      int64_t,                                                \
                                      const int32_t*,                                         \
                                      int64_t,                                                \
                                      const EqualBins<Scalar>&,                               \
                                      int64_t*,                                               \
                                      void*);
FLIGHTDECK_INSTANTIATE(float)
FLIGHTDECK_INSTANTIATE(double)
#undef FLIGHTDECK_INSTANTIATE

}  // namespace flightdeck::kernels

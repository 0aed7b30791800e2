// SPDX-License-Identifier: MIT
// Kernels that take a table of pointers and do one kind of work for all layers in one launch. A
// launch costs a small net more than the work of a layer. The text is compiled at run time, so it
// includes nothing; tables.h has the same structures for the host. Sums are taken in a fixed order:
// the same input gives the same bits.

typedef long long int64;

constexpr int kEntries = 48;
constexpr int kTile = 16;
constexpr int kDepth = 32;
constexpr int kThreads = 256;
constexpr int kSweepPerBlock = 16384;

// Rows g_n = a_n b_nᵀ; a is 1 where the pointer is null.
struct Factors {
  const float* a;
  const float* b;
  int64 a_stride, b_stride;  // from sample to sample; entries lie side by side
  int I, J;
};
struct FactorTable {
  Factors entry[kEntries];
};

// x - y, and what becomes of it.
struct Pair {
  const float* x;
  const float* y;     // may be null: zeros
  float* difference;  // may be null
  float* copy;        // of x; may be null, may be y
  int64 count;
  int64 first_block;
};
struct PairTable {
  Pair entry[kEntries];
  int entries;
};

// A tensor that is copied into a list of doubles.
enum Type { kFloat, kDouble, kInt64 };
struct Parcel {
  const void* from;
  int64 count;
  int64 first;  // its place in the list
  int type;
};
struct ParcelTable {
  Parcel entry[kEntries];
};

struct Bins {
  float low, high, scale;
  int count;
};

// <x_n, x_m> for the samples of this block's tile, in double: products of floats are exact there.
__device__ double tile_product(const float* x, int64 stride, int length, int N) {
  __shared__ double left[kTile][kDepth + 1], right[kTile][kDepth + 1];
  double sum = 0;
  const int thread = threadIdx.y * kTile + threadIdx.x;
  for (int begin = 0; begin < length; begin += kDepth) {
    for (int k = thread; k < kTile * kDepth; k += kTile * kTile) {
      const int line = k / kDepth, depth = k % kDepth, at = begin + depth;
      const int n = blockIdx.x * kTile + line, m = blockIdx.y * kTile + line;
      left[line][depth] = n < N && at < length ? (double)x[n * stride + at] : 0.0;
      right[line][depth] = m < N && at < length ? (double)x[m * stride + at] : 0.0;
    }
    __syncthreads();
    for (int k = 0; k < kDepth; ++k) sum += left[threadIdx.y][k] * right[threadIdx.x][k];
    __syncthreads();
  }
  return sum;
}

// Squares ||g_n||² [entries, N], and for each tile of samples m the sum over it of <g_n, g_m>,
// parts [entries, tiles, N]. Grid: tiles, tiles, entries.
extern "C" __global__ void gram_parts(FactorTable table, int N, double* parts, double* squares) {
  const Factors factors = table.entry[blockIdx.z];
  const int n = blockIdx.x * kTile + threadIdx.y, m = blockIdx.y * kTile + threadIdx.x;
  double product = 1;
  if (factors.a) product = tile_product(factors.a, factors.a_stride, factors.I, N);
  product *= tile_product(factors.b, factors.b_stride, factors.J, N);
  if (n == m && n < N) squares[(int64)blockIdx.z * N + n] = product;
  __shared__ double line[kTile][kTile + 1];
  line[threadIdx.y][threadIdx.x] = m < N ? product : 0.0;
  __syncthreads();
  if (threadIdx.x != 0 || n >= N) return;
  double sum = 0;
  for (int k = 0; k < kTile; ++k) sum += line[threadIdx.y][k];
  parts[((int64)blockIdx.z * gridDim.y + blockIdx.y) * N + n] = sum;
}

// The sum over all threads of the block, in every thread.
__device__ double block_sum(double value) {
  __shared__ double sums[kThreads];
  sums[threadIdx.x] = value;
  __syncthreads();
  for (int half = kThreads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  const double sum = sums[0];
  __syncthreads();
  return sum;
}

// From gram_parts: <g_n, g> and ||g_n - g||² with the mean g, ||g_n||, and ||g||² per entry. What
// is a mean over samples is scaled by `scale`. Grid: entries.
extern "C" __global__ void scatter(int N,
                                   int tiles,
                                   double scale,
                                   const double* parts,
                                   const double* squares,
                                   double* dots,
                                   double* deviations,
                                   float* norms,
                                   double* squared_means) {
  const int64 first = (int64)blockIdx.x * N;
  double sum = 0;
  for (int n = threadIdx.x; n < N; n += kThreads) {
    double line = 0;
    for (int t = 0; t < tiles; ++t) line += parts[first * tiles + (int64)t * N + n];
    line /= N;
    dots[first + n] = line;
    sum += line;
  }
  const double mean = block_sum(sum) / N;
  for (int n = threadIdx.x; n < N; n += kThreads) {
    const double square = squares[first + n], dot = dots[first + n];
    const double deviation = square - 2 * dot + mean;
    // Not fmax: NaN stays.
    deviations[first + n] = deviation < 0 ? 0.0 : deviation;
    norms[first + n] = (float)sqrt(square);
    dots[first + n] = dot * scale;
  }
  if (threadIdx.x == 0) squared_means[blockIdx.x] = mean * scale;
}

// <a_n, b_n> of every sample and entry, [entries, N]. Grid: samples, entries.
extern "C" __global__ void row_dots(FactorTable table, float* dots) {
  const Factors factors = table.entry[blockIdx.y];
  const float* a = factors.a + blockIdx.x * factors.a_stride;
  const float* b = factors.b + blockIdx.x * factors.b_stride;
  double sum = 0;
  for (int j = threadIdx.x; j < factors.J; j += kThreads) sum += (double)a[j] * b[j];
  sum = block_sum(sum);
  if (threadIdx.x == 0) dots[(int64)blockIdx.y * gridDim.x + blockIdx.x] = (float)sum;
}

// 0 below, 1 + bin, count + 1 above, count + 2 for NaN. Single operations, rounded one by one.
__device__ int raw_index(float x, const Bins& bins) {
  if (x != x) return bins.count + 2;
  if (x < bins.low) return 0;
  if (x > bins.high) return bins.count + 1;
  const int bin = (int)__fmul_rn(__fsub_rn(x, bins.low), bins.scale);
  return 1 + (bin < bins.count ? bin : bins.count - 1);
}

// Adds the counts of all entries of the rows to counts [entries, count + 3]. A block takes one
// sample and every so many lines; nearly all entries lie in the two bins around zero, which each
// thread counts in registers. Grid: lines, samples, entries.
extern "C" __global__ void count_products(
    FactorTable table, Bins bins, int centre, unsigned long long* counts) {
  extern __shared__ unsigned table_of_counts[];
  const Factors factors = table.entry[blockIdx.z];
  const int size = bins.count + 3;
  if ((int)blockIdx.x >= factors.I) return;
  for (int k = threadIdx.x; k < size; k += blockDim.x) table_of_counts[k] = 0;
  __syncthreads();
  unsigned at_centre = 0, below_centre = 0;
  const float* b = factors.b + blockIdx.y * factors.b_stride;
  const float* a = factors.a ? factors.a + blockIdx.y * factors.a_stride : nullptr;
  for (int j = threadIdx.x; j < factors.J; j += blockDim.x) {
    const float factor = b[j];
    for (int i = blockIdx.x; i < factors.I; i += gridDim.x) {
      const int found = raw_index(a ? __fmul_rn(a[i], factor) : factor, bins);
      if (found == centre) {
        ++at_centre;
      } else if (found == centre - 1) {
        ++below_centre;
      } else {
        atomicAdd(table_of_counts + found, 1u);
      }
    }
  }
  if (at_centre) atomicAdd(table_of_counts + centre, at_centre);
  if (below_centre) atomicAdd(table_of_counts + centre - 1, below_centre);
  __syncthreads();
  for (int k = threadIdx.x; k < size; k += blockDim.x) {
    if (table_of_counts[k]) {
      atomicAdd(counts + (int64)blockIdx.z * size + k, (unsigned long long)table_of_counts[k]);
    }
  }
}

// Sums of (x - y)² and y² over a block's piece, parts [blocks, 2]. Grid: blocks of all entries.
extern "C" __global__ void sweep_parts(PairTable table, double* parts) {
  int e = 0;
  while (e + 1 < table.entries && table.entry[e + 1].first_block <= blockIdx.x) ++e;
  const Pair pair = table.entry[e];
  const int64 begin = (blockIdx.x - pair.first_block) * kSweepPerBlock;
  const int64 rest = pair.count - begin;
  const int64 end = begin + (rest < kSweepPerBlock ? rest : kSweepPerBlock);
  double squares = 0, before = 0;
  for (int64 k = begin + threadIdx.x; k < end; k += kThreads) {
    const float x = pair.x[k], y = pair.y ? pair.y[k] : 0.0f;
    const float difference = __fsub_rn(x, y);
    if (pair.difference) pair.difference[k] = difference;
    if (pair.copy) pair.copy[k] = x;
    squares += (double)difference * difference;
    before += (double)y * y;
  }
  squares = block_sum(squares);
  before = block_sum(before);
  if (threadIdx.x != 0) return;
  parts[2 * blockIdx.x] = squares;
  parts[2 * blockIdx.x + 1] = before;
}

// The sums of all parts of an entry, sums [2, entries]. Grid: entries.
extern "C" __global__ void sweep_sums(PairTable table, int blocks, const double* parts, double* sums) {
  const int e = blockIdx.x;
  const int64 begin = table.entry[e].first_block;
  const int64 end = e + 1 < table.entries ? table.entry[e + 1].first_block : blocks;
  double squares = 0, before = 0;
  for (int64 k = begin + threadIdx.x; k < end; k += kThreads) {
    squares += parts[2 * k];
    before += parts[2 * k + 1];
  }
  squares = block_sum(squares);
  before = block_sum(before);
  if (threadIdx.x != 0) return;
  sums[e] = squares;
  sums[table.entries + e] = before;
}

// Grid: blocks, entries.
extern "C" __global__ void pack(ParcelTable table, double* list) {
  const Parcel parcel = table.entry[blockIdx.y];
  const int64 stride = (int64)gridDim.x * blockDim.x;
  for (int64 k = (int64)blockIdx.x * blockDim.x + threadIdx.x; k < parcel.count; k += stride) {
    double value = 0;
    if (parcel.type == kFloat) value = ((const float*)parcel.from)[k];
    if (parcel.type == kDouble) value = ((const double*)parcel.from)[k];
    if (parcel.type == kInt64) value = (double)((const int64*)parcel.from)[k];
    list[parcel.first + k] = value;
  }
}

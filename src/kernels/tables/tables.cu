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

// Rows sum_t a_nt b_ntᵀ and a direction U for them: U[i, j] at u[i * u_i + j * u_j]. a is 1 where
// the pointer is null.
struct Slope {
  const float* a;
  const float* b;
  const float* u;
  int64 a_stride, b_stride;      // from sample to sample
  int64 a_position, b_position;  // from position to position; entries lie side by side
  int64 u_i, u_j;
  int T, I, J;
  int first_block;  // along the grid's first dimension
};
constexpr int kSlopes = 32;
struct SlopeTable {
  Slope entry[kSlopes];
  int entries;
};

// Lists of the same length that are added up, of several sums: the parts of sum s are those from
// first[s] to first[s + 1].
constexpr int kParts = 384;
constexpr int kSums = 8;
struct SumTable {
  const void* part[kParts];
  void* sum[kSums];
  int64 length[kSums];
  int first[kSums + 1];
  int type[kSums];
  int is_root[kSums];  // the root of the sum of squares instead
};

struct Bins {
  float low, high, scale;
  int count;
};

// Entries of one tensor, float or double, side by side.
struct Entries {
  const void* x;
  int64 count;
  double tiny, huge;
  int64 stride, samples;  // entry k is of sample (k / stride) % samples; 0 samples: not known
  int type;
};
// What is told of them, in this order; the last three are the least and the largest finite one, and
// the first sample with one that is not.
constexpr int kEntryNumbers = 12;
enum EntryNumber {
  kCount,
  kSum,
  kSquares,
  kCubes,
  kFourths,
  kNotFinite,
  kZero,
  kTiny,
  kHuge,
  kLow,
  kHigh,
  kFirst
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
    // A NaN has to stay, and fmax would drop it.
    deviations[first + n] = deviation < 0 ? 0.0 : deviation;
    norms[first + n] = (float)sqrt(square);
    dots[first + n] = dot * scale;
  }
  if (threadIdx.x == 0) squared_means[blockIdx.x] = mean * scale;
}

// <sum_t a_nt b_ntᵀ, U> of the samples n of this block's tile over its part of the i, parts
// [blocks, N]. A tile of mapped lines B_t Uᵀ is formed in registers and multiplied with A_t at
// once. Grid: blocks over all entries and tiles of i, tiles of samples.
extern "C" __global__ void slope_parts(SlopeTable table, int N, double* parts) {
  constexpr int kWide = 64, kDeep = 16, kEach = 4;
  int e = 0;
  while (e + 1 < table.entries && table.entry[e + 1].first_block <= (int)blockIdx.x) ++e;
  const Slope own = table.entry[e];
  const int first_i = ((int)blockIdx.x - own.first_block) * kWide, first_n = blockIdx.y * kWide;
  const int thread = threadIdx.x, across = thread % 16, down = thread / 16;
  __shared__ float lines[kDeep][kWide + 1], weights[kDeep][kWide + 1];
  double sums[kEach] = {0, 0, 0, 0};
  for (int t = 0; t < own.T; ++t) {
    float mapped[kEach][kEach] = {};
    for (int begin = 0; begin < own.J; begin += kDeep) {
      for (int k = thread; k < kDeep * kWide; k += kThreads) {
        // Neighbours in memory are read by neighbouring threads.
        const int j = k % kDeep, n = k / kDeep;
        const bool has_line = first_n + n < N && begin + j < own.J;
        lines[j][n] =
            has_line ? own.b[(first_n + n) * own.b_stride + t * own.b_position + begin + j] : 0.0f;
        const int along_j = own.u_j == 1 ? k % kDeep : k / kWide;
        const int along_i = own.u_j == 1 ? k / kDeep : k % kWide;
        const bool has_weight = first_i + along_i < own.I && begin + along_j < own.J;
        weights[along_j][along_i] =
            has_weight ? own.u[(first_i + along_i) * own.u_i + (begin + along_j) * own.u_j] : 0.0f;
      }
      __syncthreads();
      for (int j = 0; j < kDeep; ++j) {
        for (int y = 0; y < kEach; ++y) {
          const float b = lines[j][down + 16 * y];
          for (int x = 0; x < kEach; ++x) mapped[y][x] += b * weights[j][across + 16 * x];
        }
      }
      __syncthreads();
    }
    for (int y = 0; y < kEach; ++y) {
      const int n = first_n + down + 16 * y;
      if (n >= N) continue;
      for (int x = 0; x < kEach; ++x) {
        const int i = first_i + across + 16 * x;
        if (i >= own.I) continue;
        const float a = own.a ? own.a[n * own.a_stride + t * own.a_position + i] : 1.0f;
        sums[y] += (double)a * mapped[y][x];
      }
    }
  }
  __shared__ double each[kWide][17];
  for (int y = 0; y < kEach; ++y) each[down + 16 * y][across] = sums[y];
  __syncthreads();
  if (thread >= kWide || first_n + thread >= N) return;
  double sum = 0;
  for (int k = 0; k < 16; ++k) sum += each[thread][k];
  parts[(int64)blockIdx.x * N + first_n + thread] = sum;
}

// The sum of all parts of an entry, slopes [entries, N]. Grid: entries, blocks of samples.
extern "C" __global__ void slope_sums(
    SlopeTable table, int blocks, int N, const double* parts, float* slopes) {
  const int e = blockIdx.x, n = blockIdx.y * kThreads + threadIdx.x;
  if (n >= N) return;
  const int end = e + 1 < table.entries ? table.entry[e + 1].first_block : blocks;
  double sum = 0;
  for (int block = table.entry[e].first_block; block < end; ++block) {
    sum += parts[(int64)block * N + n];
  }
  slopes[(int64)e * N + n] = (float)sum;
}

// Grid: blocks of entries, sums.
extern "C" __global__ void add_up(SumTable table) {
  const int s = blockIdx.y;
  const int64 stride = (int64)gridDim.x * blockDim.x;
  for (int64 k = (int64)blockIdx.x * blockDim.x + threadIdx.x; k < table.length[s]; k += stride) {
    double sum = 0;
    int64 count = 0;
    for (int p = table.first[s]; p < table.first[s + 1]; ++p) {
      if (table.type[s] == kInt64) {
        count += ((const int64*)table.part[p])[k];
        continue;
      }
      const double value = table.type[s] == kFloat ? (double)((const float*)table.part[p])[k]
                                                   : ((const double*)table.part[p])[k];
      sum += table.is_root[s] ? value * value : value;
    }
    if (table.is_root[s]) sum = sqrt(sum);
    if (table.type[s] == kFloat) ((float*)table.sum[s])[k] = (float)sum;
    if (table.type[s] == kDouble) ((double*)table.sum[s])[k] = sum;
    if (table.type[s] == kInt64) ((int64*)table.sum[s])[k] = count;
  }
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
extern "C" __global__ void count_products(FactorTable table,
                                          Bins bins,
                                          int centre,
                                          unsigned long long* counts) {
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
extern "C" __global__ void sweep_sums(PairTable table,
                                      int blocks,
                                      const double* parts,
                                      double* sums) {
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

__device__ void begin_numbers(double* numbers) {
  for (int f = 0; f < kLow; ++f) numbers[f] = 0;
  numbers[kLow] = __longlong_as_double(0x7FF0000000000000LL);
  numbers[kHigh] = -numbers[kLow];
  numbers[kFirst] = numbers[kLow];
}

__device__ void join_numbers(double* numbers, const double* other, int stride) {
  for (int f = 0; f < kLow; ++f) numbers[f] += other[f * stride];
  const double low = other[kLow * stride], high = other[kHigh * stride];
  const double first = other[kFirst * stride];
  if (low < numbers[kLow]) numbers[kLow] = low;
  if (high > numbers[kHigh]) numbers[kHigh] = high;
  if (first < numbers[kFirst]) numbers[kFirst] = first;
}

// Joins those of all threads of the block and writes them.
__device__ void write_numbers(const double* numbers, double* to) {
  __shared__ double all[kEntryNumbers][kThreads];
  for (int f = 0; f < kEntryNumbers; ++f) all[f][threadIdx.x] = numbers[f];
  __syncthreads();
  for (int half = kThreads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      double joined[kEntryNumbers];
      for (int f = 0; f < kEntryNumbers; ++f) joined[f] = all[f][threadIdx.x];
      join_numbers(joined, &all[0][threadIdx.x + half], kThreads);
      for (int f = 0; f < kEntryNumbers; ++f) all[f][threadIdx.x] = joined[f];
    }
    __syncthreads();
  }
  if (threadIdx.x < kEntryNumbers) to[threadIdx.x] = all[threadIdx.x][0];
}

// Numbers of a block's piece, parts [blocks, kEntryNumbers]. Grid: blocks.
extern "C" __global__ void entry_parts(Entries entries, double* parts) {
  const int64 begin = (int64)blockIdx.x * kSweepPerBlock, rest = entries.count - begin;
  const int64 end = begin + (rest < kSweepPerBlock ? rest : kSweepPerBlock);
  double numbers[kEntryNumbers];
  begin_numbers(numbers);
  for (int64 k = begin + threadIdx.x; k < end; k += kThreads) {
    const double x = entries.type == kFloat ? (double)((const float*)entries.x)[k]
                                            : ((const double*)entries.x)[k];
    const double size = fabs(x), square = x * x;
    const bool is_finite = size - size == 0;
    numbers[kCount] += 1;
    numbers[kSum] += x;
    numbers[kSquares] += square;
    numbers[kCubes] += square * x;
    numbers[kFourths] += square * square;
    numbers[kNotFinite] += !is_finite;
    numbers[kZero] += size == 0;
    numbers[kTiny] += size != 0 && size < entries.tiny;
    numbers[kHuge] += is_finite && size > entries.huge;
    if (is_finite && x < numbers[kLow]) numbers[kLow] = x;
    if (is_finite && x > numbers[kHigh]) numbers[kHigh] = x;
    if (!is_finite && entries.samples > 0) {
      const double sample = (double)(k / entries.stride % entries.samples);
      if (sample < numbers[kFirst]) numbers[kFirst] = sample;
    }
  }
  write_numbers(numbers, parts + (int64)blockIdx.x * kEntryNumbers);
}

// Joins the parts into numbers [kEntryNumbers]. Grid: one block.
extern "C" __global__ void entry_totals(int blocks, const double* parts, double* totals) {
  double numbers[kEntryNumbers];
  begin_numbers(numbers);
  for (int k = threadIdx.x; k < blocks; k += kThreads) {
    join_numbers(numbers, parts + (int64)k * kEntryNumbers, 1);
  }
  write_numbers(numbers, totals);
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

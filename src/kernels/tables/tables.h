// SPDX-License-Identifier: MIT
// The kernels of tables.cu, launched from the host. They are compiled at run time where the driver
// and NVRTC are found; who builds needs no CUDA. Pointers are the device's.
#pragma once

#include <cstdint>
#include <string>

namespace flightdeck::kernels {

// These numbers are the same in tables.cu.
constexpr int kTableEntries = 48;
constexpr int kGramTile = 16;
constexpr int64_t kSweepPerBlock = 16384;

struct Factors {
  const float* a;
  const float* b;
  long long a_stride, b_stride;
  int I, J;
};
struct FactorTable {
  Factors entry[kTableEntries];
};

struct Pair {
  const float* x;
  const float* y;
  float* difference;
  float* copy;
  long long count;
  long long first_block;
};
struct PairTable {
  Pair entry[kTableEntries];
  int entries;
};

enum class ParcelType : int { kFloat, kDouble, kInt64 };
struct Parcel {
  const void* from;
  long long count;
  long long first;
  ParcelType type;
};
struct ParcelTable {
  Parcel entry[kTableEntries];
};

constexpr int kTableSlopes = 32;
constexpr int kSlopeTile = 64;
struct Slope {
  const float* a;
  const float* b;
  const float* u;
  long long a_stride, b_stride;
  long long a_position, b_position;
  long long u_i, u_j;
  int T, I, J;
  int first_block;
};
struct SlopeTable {
  Slope entry[kTableSlopes];
  int entries;
};

constexpr int kTableParts = 384;
constexpr int kTableSums = 8;
struct SumTable {
  const void* part[kTableParts];
  void* sum[kTableSums];
  long long length[kTableSums];
  int first[kTableSums + 1];
  ParcelType type[kTableSums];
  int is_root[kTableSums];
};

struct TableBins {
  float low, high, scale;
  int count;
};

// Describes the entries of one tensor, of kFloat or kDouble, side by side. Entry k belongs to
// sample (k / stride) % samples; with 0 samples to none.
struct Entries {
  const void* x;
  long long count;
  double tiny, huge;
  long long stride, samples;
  ParcelType type;
};
constexpr int kEntryNumbers = 12;

// Returns the kernels of the device whose context is current in this thread, or null. The first
// call for a device compiles them, or reads what was compiled before from the cache of the user.
class Tables;
const Tables* tables();

// Returns the plain loops of reference.cpp, which are the definition of correct: pointers are the
// host's.
const Tables* reference_tables();

// Says why `tables` is null, or how the kernels came about: one line for people.
std::string tables_text();

// Each of these launches a kernel and returns false if the driver refused.
bool gram_parts(const Tables& tables,
                void* stream,
                const FactorTable& factors,
                int entries,
                int N,
                double* parts,
                double* squares);
bool scatter(const Tables& tables,
             void* stream,
             int entries,
             int N,
             double scale,
             const double* parts,
             const double* squares,
             double* dots,
             double* deviations,
             float* norms,
             double* squared_means);
// Writes parts [blocks, N], one block for every kSlopeTile of an entry's I.
bool slopes(const Tables& tables,
            void* stream,
            const SlopeTable& entries,
            int blocks,
            int N,
            double* parts,
            float* slopes);
bool add_up(const Tables& tables, void* stream, const SumTable& sums, int count);
bool count_products(const Tables& tables,
                    void* stream,
                    const FactorTable& factors,
                    int entries,
                    int N,
                    int lines,
                    const TableBins& bins,
                    int centre,
                    int64_t* counts);
bool pack(
    const Tables& tables, void* stream, const ParcelTable& parcels, int entries, double* list);
bool sweep(const Tables& tables,
           void* stream,
           const PairTable& pairs,
           int64_t blocks,
           double* parts,
           double* sums);
// Writes parts [blocks, kEntryNumbers], one block for every kSweepPerBlock entries, and numbers
// [kEntryNumbers]: count, sums of four powers, counts of what is not finite, zero, tiny and huge,
// the least and the largest finite entry, the first sample with one that is not finite (infinity if
// there is none).
bool entry_numbers(const Tables& tables,
                   void* stream,
                   const Entries& entries,
                   int64_t blocks,
                   double* parts,
                   double* numbers);

}  // namespace flightdeck::kernels

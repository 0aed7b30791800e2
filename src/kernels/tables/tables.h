// SPDX-License-Identifier: MIT
// The kernels of tables.cu, launched from the host. They are compiled at run time where the driver
// and NVRTC are found; who builds needs no CUDA. Pointers are the device's.
#pragma once

#include <cstdint>
#include <string>

namespace flightdeck::kernels {

// As in tables.cu.
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

struct TableBins {
  float low, high, scale;
  int count;
};

// The kernels of the device whose context is current in this thread, or null. The first call for a
// device compiles them, or reads what was compiled before from the cache of the user.
class Tables;
const Tables* tables();

// Why `tables` is null, or how the kernels came about: one line for people.
std::string tables_text();

// False if the driver refused.
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
// a and b have the same number J of entries; a_stride 0: one a for all samples.
bool row_dots(const Tables& tables,
              void* stream,
              const FactorTable& factors,
              int entries,
              int N,
              float* dots);
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

}  // namespace flightdeck::kernels

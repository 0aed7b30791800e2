// SPDX-License-Identifier: MIT
// The kernels of tables.cu as plain loops on the host. All return true.
#pragma once

#include <cstdint>

#include "kernels/tables/tables.h"

namespace flightdeck::kernels::reference {

bool gram_parts(const FactorTable& factors, int entries, int N, double* parts, double* squares);
bool scatter(int entries,
             int N,
             double scale,
             const double* parts,
             const double* squares,
             double* dots,
             double* deviations,
             float* norms,
             double* squared_means);
bool slopes(const SlopeTable& entries, int N, float* slopes);
bool add_up(const SumTable& sums, int count);
bool count_products(
    const FactorTable& factors, int entries, int N, const TableBins& bins, int64_t* counts);
bool pack(const ParcelTable& parcels, int entries, double* list);
bool entry_numbers(const Entries& entries, double* numbers);
bool sweep(const PairTable& pairs, double* sums);

}  // namespace flightdeck::kernels::reference

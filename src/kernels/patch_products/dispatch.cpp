// SPDX-License-Identifier: MIT
// Chooses the instruction set once per process.
#include <stdexcept>
#include <string>

#include "kernels/isa.h"
#include "kernels/patch_products/variants.h"

namespace flightdeck::kernels {
namespace {

struct Choice {
  std::string_view name;
  const BlockKernels* kernels;  // null: reference
};

Choice choose() {
  const Choice best_first[] = {
      {"avx512", avx512_kernels()}, {"avx2", avx2_kernels()}, {"reference", nullptr}};
  const std::string_view wish = wished_isa();
  for (const Choice& choice : best_first) {
    const bool is_available = choice.kernels != nullptr || choice.name == "reference";
    if (is_available && (wish.empty() || choice.name == wish)) return choice;
  }
  throw std::invalid_argument("patch products: FLIGHTDECK_ISA is '" + std::string(wish) +
                              "', which this build or processor does not have; "
                              "set it to reference, avx2 or avx512, or unset it");
}

const Choice& choice() {
  static const Choice chosen = choose();
  return chosen;
}

template <typename Scalar>
void run(const PatchProducts<Scalar>& work,
         const BlockKernel<Scalar>* kernel,
         const ParallelFor& parallel_for,
         int threads) {
  const bool is_empty = work.N == 0 || work.T == 0 || work.I == 0 || work.J == 0;
  if (kernel == nullptr || is_empty) return run_reference(work, parallel_for, threads);
  run_blocked(work, *kernel, parallel_for, threads);
}

}  // namespace

void run_patch_products(const PatchProducts<float>& work,
                        const BlockKernels* kernels,
                        const ParallelFor& parallel_for,
                        int threads) {
  run(work, kernels ? &kernels->f32 : nullptr, parallel_for, threads);
}

void run_patch_products(const PatchProducts<double>& work,
                        const BlockKernels* kernels,
                        const ParallelFor& parallel_for,
                        int threads) {
  run(work, kernels ? &kernels->f64 : nullptr, parallel_for, threads);
}

void patch_products(const PatchProducts<float>& work,
                    const ParallelFor& parallel_for,
                    int threads) {
  run_patch_products(work, choice().kernels, parallel_for, threads);
}

void patch_products(const PatchProducts<double>& work,
                    const ParallelFor& parallel_for,
                    int threads) {
  run_patch_products(work, choice().kernels, parallel_for, threads);
}

std::string_view patch_products_isa() { return choice().name; }

}  // namespace flightdeck::kernels

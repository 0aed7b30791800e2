// SPDX-License-Identifier: MIT
// Hands out the kernels of an instruction set.
#include "kernels/counting/variants.h"
#include "kernels/isa.h"
#include "kernels/patch_products/patch_products.h"

namespace flightdeck::kernels {
namespace {

const CountingVariant& variant(std::string_view isa) {
  if (isa == "avx512") return kAvx512Counting;
  if (isa == "avx2") return kAvx2Counting;
  return isa == "baseline" ? kBaselineCounting : kReferenceCounting;
}

// Returns the instruction set of patch_products, which refuses wishes that cannot be fulfilled.
// Where it has no vector code, there are still vectors of 16 bytes here, unless plain loops are
// wished for.
std::string_view choose_isa() {
  const std::string_view isa = patch_products_isa();
  return isa == "reference" && wished_isa() != "reference" ? "baseline" : isa;
}

}  // namespace

std::string_view counting_isa() {
  static const std::string_view chosen = choose_isa();
  return chosen;
}

template <>
const CountingKernels<float>* counting_kernels<float>(std::string_view isa) {
  return variant(isa).f32;
}

template <>
const CountingKernels<double>* counting_kernels<double>(std::string_view isa) {
  return variant(isa).f64;
}

template <typename Scalar>
const CountingKernels<Scalar>& counting_kernels() {
  static const CountingKernels<Scalar>& chosen = *counting_kernels<Scalar>(counting_isa());
  return chosen;
}

template const CountingKernels<float>& counting_kernels<float>();
template const CountingKernels<double>& counting_kernels<double>();

}  // namespace flightdeck::kernels

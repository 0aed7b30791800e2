// SPDX-License-Identifier: MIT
// Hands out the kernels of an instruction set.
#include "kernels/counting/variants.h"
#include "kernels/patch_products/patch_products.h"

namespace flightdeck::kernels {
namespace {

const CountingVariant& variant(std::string_view isa) {
  if (isa == "avx512") return kAvx512Counting;
  return isa == "avx2" ? kAvx2Counting : kBaselineCounting;
}

}  // namespace

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
  static const CountingKernels<Scalar>& chosen = *counting_kernels<Scalar>(patch_products_isa());
  return chosen;
}

template const CountingKernels<float>& counting_kernels<float>();
template const CountingKernels<double>& counting_kernels<double>();

}  // namespace flightdeck::kernels

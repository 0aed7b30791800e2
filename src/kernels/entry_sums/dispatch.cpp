// SPDX-License-Identifier: MIT
// Hands out the sweep of an instruction set.
#include "kernels/counting/counting.h"
#include "kernels/entry_sums/variants.h"

namespace flightdeck::kernels {
namespace {

const EntrySumsVariant& variant(std::string_view isa) {
  if (isa == "avx512" || isa == "avx2") return kAvx2EntrySums;
  return isa == "baseline" ? kBaselineEntrySums : kReferenceEntrySums;
}

}  // namespace

template <>
AddEntries<float> add_entries<float>(std::string_view isa) {
  return variant(isa).f32;
}
template <>
AddEntries<double> add_entries<double>(std::string_view isa) {
  return variant(isa).f64;
}
template <>
AddEntries<Bfloat16> add_entries<Bfloat16>(std::string_view isa) {
  return variant(isa).bf16;
}

template <typename Stored>
AddEntries<Stored> add_entries() {
  static const AddEntries<Stored> chosen = add_entries<Stored>(counting_isa());
  return chosen;
}

template AddEntries<float> add_entries<float>();
template AddEntries<double> add_entries<double>();
template AddEntries<Bfloat16> add_entries<Bfloat16>();

}  // namespace flightdeck::kernels

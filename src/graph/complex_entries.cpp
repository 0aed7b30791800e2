// SPDX-License-Identifier: MIT
#include "graph/complex_entries.h"

#include <ATen/ATen.h>

namespace flightdeck {

bool is_complex(const at::TensorOptions& options) {
  return c10::isComplexType(c10::typeMetaToScalarType(options.dtype()));
}

at::TensorOptions real_options(const at::TensorOptions& options) {
  return options.dtype(c10::toRealValueType(c10::typeMetaToScalarType(options.dtype())));
}

Tensor real_part(const Tensor& tensor) { return tensor.is_complex() ? at::real(tensor) : tensor; }

Tensor real_entries(const Tensor& tensor) {
  return tensor.is_complex() ? at::view_as_real(tensor.resolve_conj()) : tensor;
}

Tensor from_real_entries(const Tensor& entries, bool is_complex) {
  return is_complex ? at::complex(entries.select(-1, 0), entries.select(-1, 1)) : entries;
}

}  // namespace flightdeck

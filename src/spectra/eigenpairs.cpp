// SPDX-License-Identifier: MIT
// eigenpairs(): checks and completes the options and picks the method.
#include <algorithm>

#include <ATen/ATen.h>

#include "flightdeck/spectra.h"
#include "spectra/eigen_methods.h"
#include "spectra/products.h"

namespace flightdeck {
namespace {

void check_end(const char* end, int64_t pairs, int64_t dim) {
  TORCH_CHECK_VALUE(pairs >= 0,
                    "eigenpairs: ",
                    pairs,
                    " pairs were asked for at the ",
                    end,
                    " end; pass 0 or more");
  TORCH_CHECK_VALUE(pairs <= dim,
                    "eigenpairs: ",
                    pairs,
                    " pairs were asked for at the ",
                    end,
                    " end but the operator has ",
                    dim,
                    "; ask for at most that many");
}

void check_options(const LinearOperator& op, const EigenOptions& options) {
  check_end("upper", options.largest, op.dim());
  check_end("lower", options.smallest, op.dim());
  TORCH_CHECK_VALUE(options.largest + options.smallest > 0,
                    "eigenpairs: largest and smallest are both 0; ask for at least one pair");
  TORCH_CHECK_VALUE(options.tolerance >= 0 && options.floor >= 0,
                    "eigenpairs: tolerance is ",
                    options.tolerance,
                    " and floor is ",
                    options.floor,
                    " but neither may be negative; pass 0 or more");
  TORCH_CHECK_VALUE(options.max_products > 0,
                    "eigenpairs: max_products is ",
                    options.max_products,
                    " but one product is the least; pass 1 or more");
  TORCH_CHECK_VALUE(options.block >= 0,
                    "eigenpairs: block is ",
                    options.block,
                    "; pass 0 for the default or a number of vectors");
}

// The usable lines of the start as [V, D].
Tensor start_lines(const LinearOperator& op, const Tensor& start) {
  if (!start.defined()) return at::empty({0, op.dim()}, op.options());
  const Tensor lines = start.detach().dim() == 1 ? start.detach().unsqueeze(0) : start.detach();
  TORCH_CHECK_VALUE(lines.dim() == 2 && lines.size(1) == op.dim(),
                    "eigenpairs: the start has shape ",
                    start.sizes(),
                    " but the operator's vectors have ",
                    op.dim(),
                    " entries; pass [D] or [V, D]");
  const Tensor norms = norms_of(lines.to(op.options()));
  const Tensor usable = norms.isfinite().logical_and(norms > 0).nonzero().squeeze(1);
  return lines.to(op.options()).index_select(0, usable.to(op.options().device()));
}

void complete_basis(EigenOptions& options, int64_t dim) {
  const int64_t wanted = options.largest + options.smallest;
  const int64_t least = std::min(dim, wanted + 2 * options.block + 1);
  if (options.max_basis == 0) options.max_basis = 30 + 2 * (wanted + options.block);
  TORCH_CHECK_VALUE(options.max_basis >= least,
                    "eigenpairs: max_basis is ",
                    options.max_basis,
                    " but ",
                    wanted,
                    " pairs with blocks of ",
                    options.block,
                    " need ",
                    least,
                    "; raise it, or set it to 0 for the default");
  options.max_basis = std::min(options.max_basis, dim);
}

}  // namespace

bool Eigenpairs::all_converged() const {
  return std::all_of(converged.begin(), converged.end(), [](bool yes) { return yes; });
}

Eigenpairs eigenpairs(const LinearOperator& op, const EigenOptions& options) {
  const ArithmeticGuard guard;
  check_operator("eigenpairs", op);
  check_options(op, options);
  EigenOptions complete = options;
  complete.start = start_lines(op, options.start);
  const int64_t block = lobpcg_block(options);
  // On a space this small the first method is exact, and the second has no room.
  if (options.method == EigenMethod::kLobpcg && 3 * block <= op.dim() &&
      block <= options.max_products) {
    return lobpcg(op, complete);
  }
  complete.block = std::max({int64_t{1}, options.block, complete.start.size(0)});
  complete.block = std::min(complete.block, op.dim());
  complete_basis(complete, op.dim());
  return lanczos(op, complete);
}

}  // namespace flightdeck

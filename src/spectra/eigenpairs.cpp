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

// Returns the usable lines of the start, of length one, as [V, D].
Tensor start_lines(const LinearOperator& op, const Tensor& start) {
  if (!start.defined()) return at::empty({0, op.dim()}, op.options());
  const Tensor lines = start.detach().dim() == 1 ? start.detach().unsqueeze(0) : start.detach();
  TORCH_CHECK_VALUE(lines.dim() == 2 && lines.size(1) == op.dim(),
                    "eigenpairs: the start has shape ",
                    start.sizes(),
                    " but the operator's vectors have ",
                    op.dim(),
                    " entries; pass [D] or [V, D]");
  const Tensor converted = lines.to(op.options());
  const Tensor norms = norms_of(converted);
  const Tensor usable = norms.isfinite().logical_and(norms > 0).nonzero().squeeze(1);
  const Tensor lengths = norms.index_select(0, usable).unsqueeze(1).to(op.options());
  return converted.index_select(0, usable.to(op.options().device())) / lengths;
}

// Restarts cost products. As long as nobody misses the memory, and a decomposition of the small
// matrix takes less than a product, there need be none.
constexpr int64_t kFreeBytes = int64_t{64} << 20;
constexpr int64_t kMostLines = 100;

void complete_basis(const LinearOperator& op, EigenOptions& options) {
  const int64_t dim = op.dim();
  const int64_t wanted = options.largest + options.smallest;
  const int64_t least = std::min(dim, wanted + 3 * options.block + 1);
  if (options.max_basis == 0) {
    const auto line_bytes = dim * static_cast<int64_t>(op.options().dtype().itemsize());
    const int64_t affordable = std::min(kMostLines, kFreeBytes / line_bytes);
    options.max_basis = std::max(30 + 2 * (wanted + options.block), affordable);
  }
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

// Tells how far out the values are. They never lie beyond the eigenvalues: further is better.
double reach(const Eigenpairs& pairs, const EigenOptions& options) {
  const Tensor upper = pairs.values.slice(0, 0, options.largest);
  const Tensor lower = pairs.values.slice(0, options.largest);
  return (upper.sum() - lower.sum()).item<double>();
}

// Returns the pairs of lobpcg(), and what lanczos() makes of them with the products that are left.
Eigenpairs proved_lobpcg(const LinearOperator& op, EigenOptions options) {
  Eigenpairs found = lobpcg(op, options);
  options.max_products -= found.products;
  if (!found.is_finite || options.max_products <= 0) return found;
  options.start = start_lines(op, found.vectors);
  // The basis is not much larger than that of lobpcg().
  options.max_basis = std::max(options.max_basis, 3 * (lobpcg_block(options) + options.block));
  complete_basis(op, options);
  Eigenpairs proved = lanczos(op, options);
  proved.products += found.products;
  proved.iterations += found.iterations;
  if (proved.all_converged() || !(reach(found, options) > reach(proved, options))) return proved;
  found.products = proved.products;
  found.iterations = proved.iterations;
  found.is_finite = proved.is_finite;
  return found;
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
  // A line less than the copies of an eigenvalue could not tell how many there are.
  complete.block = std::max({options.block, options.largest, options.smallest});
  complete.block = std::min(complete.block, op.dim());
  const int64_t block = lobpcg_block(options);
  // On a space this small the first method is exact, and the second has no room.
  if (options.method != EigenMethod::kLobpcg || 3 * block > op.dim() ||
      block > options.max_products) {
    complete_basis(op, complete);
    return lanczos(op, complete);
  }
  return proved_lobpcg(op, complete);
}

}  // namespace flightdeck

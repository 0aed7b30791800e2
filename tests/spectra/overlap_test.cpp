// SPDX-License-Identifier: MIT
// Overlaps of subspaces that are known by construction.
#include <cmath>

#include "flightdeck/spectra.h"
#include "spectra/matrices.h"

namespace flightdeck::tests {
namespace {

class SubspaceOverlapTest : public SeededTest {};

TEST_F(SubspaceOverlapTest, CountsSharedDirections) {
  const Tensor q = random_rotation(10);
  EXPECT_NEAR(subspace_overlap(q.slice(0, 0, 3), random({3, 3}).mm(q.slice(0, 0, 3))), 1, 1e-10);
  EXPECT_NEAR(subspace_overlap(q.slice(0, 0, 3), q.slice(0, 3, 8)), 0, 1e-10);
  // Two of three and four directions are shared: 2 / sqrt(12).
  EXPECT_NEAR(subspace_overlap(q.slice(0, 0, 3), q.slice(0, 1, 5)), 2 / std::sqrt(12.0), 1e-10);
  // A repeated line spans nothing more.
  EXPECT_NEAR(
      subspace_overlap(at::cat({q[0], q[0] * 3}).view({2, 10}), q.slice(0, 0, 1)), 1, 1e-10);
  EXPECT_TRUE(std::isnan(subspace_overlap(at::zeros({2, 10}, doubles()), q)));
  EXPECT_THROW(static_cast<void>(subspace_overlap(q, random({2, 9}))), c10::ValueError);
}

TEST_F(SubspaceOverlapTest, IsAtMostOneForEqualSpansOfFloats) {
  const Tensor lines = random({12, 5000}).to(at::kFloat);
  const Tensor mixed = random({12, 12}).to(at::kFloat).mm(lines);
  EXPECT_LE(subspace_overlap(lines, lines), 1 + 1e-6);
  EXPECT_LE(subspace_overlap(lines, mixed), 1 + 1e-6);
  EXPECT_GE(subspace_overlap(lines, mixed), 1 - 1e-6);
}

}  // namespace
}  // namespace flightdeck::tests

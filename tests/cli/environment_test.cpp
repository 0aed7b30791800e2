// SPDX-License-Identifier: MIT
#include "cli/machine/environment.h"

#include <cstdlib>
#include <map>

#include <gtest/gtest.h>

#include "cli/machine/processor.h"

namespace flightdeck::cli {
namespace {

Blas openblas(const std::string& core) {
  Blas blas;
  blas.name = "openblas";
  blas.core = core;
  blas.can_choose_kernels = true;
  return blas;
}

std::map<std::string, std::string> wanted(const Blas& blas, int threads) {
  std::map<std::string, std::string> by_name;
  for (const Variable& variable : wanted_variables(blas, threads)) {
    by_name[variable.name] = variable.value;
  }
  return by_name;
}

class Environment : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name :
         {"OMP_NUM_THREADS", "OMP_WAIT_POLICY", "OPENBLAS_NUM_THREADS", "OPENBLAS_CORETYPE"}) {
      unsetenv(name);
    }
  }
};

TEST_F(Environment, ReplacesAKernelSetLesserThanTheProcessor) {
  if (vector_set() == VectorSet::kNone) GTEST_SKIP() << "no vector instructions to ask for";
  EXPECT_EQ(wanted(openblas("PRESCOTT"), 2)["OPENBLAS_CORETYPE"],
            vector_set() == VectorSet::kAvx512 ? "SKYLAKEX" : "HASWELL");
}

TEST_F(Environment, KeepsAKernelSetThatFits) {
  EXPECT_EQ(wanted(openblas("SKYLAKEX"), 2).count("OPENBLAS_CORETYPE"), 0u);
}

TEST_F(Environment, KeepsWhatTheUserHasSet) {
  setenv("OMP_WAIT_POLICY", "ACTIVE", 1);
  setenv("OPENBLAS_CORETYPE", "Prescott", 1);
  const auto variables = wanted(openblas("PRESCOTT"), 2);
  EXPECT_EQ(variables.count("OMP_WAIT_POLICY"), 0u);
  EXPECT_EQ(variables.count("OPENBLAS_CORETYPE"), 0u);
  EXPECT_EQ(variables.at("OMP_NUM_THREADS"), "2");
  EXPECT_EQ(variables.at("OPENBLAS_NUM_THREADS"), "2");
}

TEST_F(Environment, LeavesOtherLibrariesAlone) {
  Blas blas;
  blas.name = "mkl";
  const auto variables = wanted(blas, 2);
  EXPECT_EQ(variables.count("OPENBLAS_NUM_THREADS"), 0u);
  EXPECT_EQ(variables.count("OPENBLAS_CORETYPE"), 0u);
}

TEST(Blas, IsDescribedByTheKnownParts) {
  Blas blas = openblas("SKYLAKEX");
  blas.version = "0.3.21";
  blas.threading = "pthread";
  EXPECT_EQ(blas.description(), "openblas 0.3.21 SKYLAKEX pthread");
  EXPECT_EQ(Blas().description(), "unknown");
}

}  // namespace
}  // namespace flightdeck::cli

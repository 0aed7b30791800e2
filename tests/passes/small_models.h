// SPDX-License-Identifier: MIT
// One small model per way in which rows come about, for tests that ask all of them the same.
#pragma once

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "tensors.h"

namespace flightdeck::tests {

struct SmallModel {
  std::vector<NamedParameter> parameters;
  std::function<Tensor()> losses;  // of the same batch; every call builds a new graph
};

struct SmallModelCase {
  const char* name;
  std::function<SmallModel()> make;
};

void PrintTo(const SmallModelCase& model, std::ostream* stream);

const std::vector<SmallModelCase>& small_models();

// A test of one of them.
class SmallModelTest : public ::testing::TestWithParam<SmallModelCase> {
 protected:
  void SetUp() override;

  Parameters parameters() const { return Parameters(model_.parameters); }
  Tensor losses() const;
  // Different, positive, not summing to one.
  Tensor weights() const;

  SmallModel model_;
};

// Calls INSTANTIATE_TEST_SUITE_P for all of them.
#define FLIGHTDECK_WITH_SMALL_MODELS(suite)                                               \
  INSTANTIATE_TEST_SUITE_P(                                                               \
      SmallModels, suite, ::testing::ValuesIn(small_models()), [](const auto& instance) { \
        return std::string(instance.param.name);                                          \
      })

}  // namespace flightdeck::tests

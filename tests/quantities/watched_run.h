// SPDX-License-Identifier: MIT
// A few training steps watched by a cockpit with every quantity, and beside them what plain
// autograd says about the same steps: the ground on which quantities are held to the textbook.
#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "curvature/models.h"
#include "flightdeck/cockpit.h"
#include "tensors.h"

namespace flightdeck::tests {

// What is known about one step, for some entries of the parameters (all, or those of a group).
struct Facts {
  Tensor losses;            // [N]
  Tensor rows;              // [N, D]: g_n
  Tensor hessian, ggn;      // [D, D], of the mean loss
  Tensor ggns;              // [N, D, D]
  Tensor parameters, next;  // [D], before and after the update
  Tensor initial;           // [D]
  double rate = 0;

  int64_t N() const { return rows.size(0); }
  int64_t D() const { return rows.size(1); }
  Tensor mean() const { return rows.mean(0); }
  Facts within(const Tensor& entries) const;  // [D_group]
};

struct RunCase {
  std::string net;
  int64_t batch_size;
  std::string optimizer;  // "sgd", "momentum" or "adam"
};
void PrintTo(const RunCase& run, std::ostream* stream);
std::string name_of_run(const ::testing::TestParamInfo<RunCase>& instance);
// Nets, batch sizes and optimizers of many kinds.
const std::vector<RunCase>& run_cases();

// A net that can be fed batches: the recorded models by name, "tied" and "recurrent".
struct FedNet {
  Parameters parameters;
  std::function<Model(int64_t batch_size)> forward;  // of a random batch
};
FedNet make_net(const std::string& name);

struct WatchedRun {
  static constexpr int64_t kSteps = 4;
  std::shared_ptr<MemorySink> sink;
  std::vector<Facts> steps;                             // the last one has no update
  std::vector<std::pair<std::string, Tensor>> entries;  // of each group; the first is the model
};

// Runs once per case; grouped by parameter, strict. Curvature quantities are there for the GGN
// too, with "_ggn" at the end of their names; eigenvalues are computed to many digits.
const WatchedRun& watched_run(const RunCase& run);

// A test of one run.
class RunTest : public ::testing::TestWithParam<RunCase> {
 protected:
  using Formula = std::function<double(const Facts&)>;

  const WatchedRun& run() const { return watched_run(GetParam()); }
  // Holds a number to its formula at every step (but the last if `needs_update`), for the model
  // and, if it has them, for every group.
  void expect_textbook(const std::string& quantity,
                       const Formula& formula,
                       bool has_groups = true,
                       bool needs_update = false,
                       const std::string& field = "") const;
};

// Numbers agree to 1e-8 of the expected one; NaN and infinities agree with themselves.
void expect_number(double actual,
                   double expected,
                   const std::string& what,
                   double tolerance = 1e-8);

}  // namespace flightdeck::tests

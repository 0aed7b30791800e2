// SPDX-License-Identifier: MIT
// Gives the benchmarks of Python the same numbers to start from as those of the tool have.
#include <cstdint>

#include "bind.h"
#include "cli/machine/blas.h"
#include "cli/machine/peak_memory.h"
#include "cli/machine/process.h"
#include "run/training.h"
#include "suite/batches.h"

namespace flightdeck::python {
namespace {

using TensorPairs = std::vector<std::pair<Tensor, Tensor>>;

// Returns the parameters of a new network and the first batches of generated data, inputs with
// their labels.
std::pair<NamedTensors, TensorPairs> start_of_training(const std::string& problem,
                                                       int64_t batch_size,
                                                       int64_t count) {
  run::TrainingOptions options;
  options.problem = problem;
  options.batch_size = batch_size;
  options.data.synthetic = true;
  options.data.augment = false;
  options.data.limit = 8192;  // as the tool's benchmarks
  const run::Training training(options);
  suite::BatchOptions cut;
  cut.batch_size = batch_size;
  cut.seed = options.seed;
  suite::Batches source(training.data(), suite::Part::kTrain, cut);
  TensorPairs batches;
  for (int64_t k = 0; k < count; ++k) {
    suite::Batch batch = source.next();
    batches.emplace_back(std::move(batch.inputs), std::move(batch.targets));
  }
  NamedTensors parameters;
  for (const auto& [name, tensor] : named_tensors(training.parameters())) {
    parameters.emplace_back(name, tensor.detach());
  }
  return {std::move(parameters), std::move(batches)};
}

}  // namespace

void bind_bench(py::module_& module) {
  module.def("prepare_process", &cli::prepare_process, py::arg("threads"), Unlocked());
  module.def("blas_description", [] { return cli::blas().description(); });
  module.def(
      "peak_bytes",
      [](const at::Device& device, const py::function& work) {
        return cli::peak_bytes(device, [&] { work(); });
      },
      py::arg("device"),
      py::arg("work"));
  module.def("start_of_training",
             &start_of_training,
             py::arg("problem"),
             py::arg("batch_size"),
             py::arg("count"),
             Unlocked());
}

}  // namespace flightdeck::python

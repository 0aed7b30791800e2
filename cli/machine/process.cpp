// SPDX-License-Identifier: MIT
#include "cli/machine/process.h"

#include <iostream>

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <c10/util/Exception.h>
#include <torch/cuda.h>
#include <torch/version.h>

#include "cli/machine/blas.h"
#include "cli/machine/environment.h"
#include "cli/machine/processor.h"
#include "cli/options/usage_error.h"

namespace flightdeck::cli {
namespace {

void warn_about_kept_threads(int threads) {
  const Blas found = blas();
  if (found.threads == 0 || found.threads == threads) return;
  std::cerr << "flightdeck: BLAS uses " << found.threads << " threads but " << threads
            << " are asked for; unset OPENBLAS_NUM_THREADS and OMP_NUM_THREADS to let the tool "
               "choose\n";
}

}  // namespace

at::Device chosen_device(const std::string& command, const std::string& name) {
  if (name == "cpu") return at::Device(at::kCPU);
  if (name != "cuda") {
    throw UsageError(command + ": there is no device '" + name + "'; choose one of cpu, cuda");
  }
  TORCH_CHECK(torch::cuda::is_available(),
              command,
              ": --device is cuda but LibTorch " TORCH_VERSION
              " sees no CUDA device; use --device cpu, or a LibTorch built with CUDA on a machine "
              "with a GPU and its driver");
  return at::Device(at::kCUDA, 0);
}

void prepare_process(int threads) {
  if (threads == 0) threads = core_count();
  restart_with_wanted_variables(threads);
  keep_freed_memory();
  at::set_num_threads(threads);
  at::globalContext().setAllowTF32CuBLAS(false);
  at::globalContext().setAllowTF32CuDNN(false);
  warn_about_kept_threads(threads);
}

}  // namespace flightdeck::cli

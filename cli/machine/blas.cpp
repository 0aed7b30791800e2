// SPDX-License-Identifier: MIT
#include "cli/machine/blas.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <dlfcn.h>
#include <sstream>

#include <ATen/Context.h>

#include "cli/machine/processor.h"

namespace flightdeck::cli {
namespace {

template <typename Function>
Function* symbol(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

// Returns the vectors that a kernel set of OpenBLAS uses, by its name.
VectorSet vector_set_of(const std::string& core) {
  for (const char* name : {"SKYLAKEX", "COOPERLAKE", "SAPPHIRERAPIDS"}) {
    if (core == name) return VectorSet::kAvx512;
  }
  for (const char* name : {"HASWELL", "ZEN"}) {
    if (core == name) return VectorSet::kAvx2;
  }
  return VectorSet::kNone;
}

}  // namespace

std::string Blas::description() const {
  std::string text = name;
  for (const std::string* part : {&version, &core, &threading}) {
    if (!part->empty()) text += " " + *part;
  }
  return text;
}

std::string Blas::better_core() const {
  if (name != "openblas" || vector_set_of(core) >= vector_set()) return "";
  return vector_set() == VectorSet::kAvx512 ? "SKYLAKEX" : "HASWELL";
}

Blas blas() {
  Blas found;
  if (void* sgemm = dlsym(RTLD_DEFAULT, "sgemm_")) {
    Dl_info where;
    if (dladdr(sgemm, &where) != 0 && where.dli_fname != nullptr) found.library = where.dli_fname;
  }

  const auto corename = symbol<char*()>("openblas_get_corename");
  const auto config = symbol<char*()>("openblas_get_config");
  if (corename == nullptr || config == nullptr) {
    if (at::hasMKL()) found.name = "mkl";
    return found;
  }
  found.name = "openblas";
  found.core = corename();
  std::transform(
      found.core.begin(), found.core.end(), found.core.begin(), [](unsigned char letter) {
        return static_cast<char>(std::toupper(letter));
      });

  // The text is like "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH NO_AFFINITY Cooperlake
  // MAX_THREADS=64".
  std::istringstream words(config());
  for (std::string previous, word; words >> word; previous = word) {
    if (previous == "OpenBLAS") found.version = word;
    if (word == "DYNAMIC_ARCH") found.can_choose_kernels = true;
  }
  if (const auto parallel = symbol<int()>("openblas_get_parallel")) {
    constexpr std::array<const char*, 3> kThreading = {"sequential", "pthread", "openmp"};
    const int kind = parallel();
    if (kind >= 0 && kind < 3) found.threading = kThreading[kind];
  }
  if (const auto threads = symbol<int()>("openblas_get_num_threads")) found.threads = threads();
  return found;
}

}  // namespace flightdeck::cli

// SPDX-License-Identifier: MIT
// Which BLAS LibTorch multiplies matrices with, and whether its kernel set fits the CPU. OpenBLAS
// picks kernels by CPU model; a model it does not know gets kernels a fifth as fast.
#pragma once

#include <string>

namespace flightdeck::cli {

struct Blas {
  std::string name = "unknown";     // openblas, mkl or unknown
  std::string version;              // empty if the library does not tell
  std::string core;                 // OpenBLAS's kernel set in capitals, e.g. SKYLAKEX
  std::string threading;            // sequential, pthread or openmp
  int threads = 0;                  // 0 if the library does not tell
  std::string library;              // file of the library that holds sgemm
  bool can_choose_kernels = false;  // obeys OPENBLAS_CORETYPE

  // Returns name, version, kernel set and threading, e.g. "openblas 0.3.21 SKYLAKEX pthread".
  std::string description() const;

  // Returns the value of OPENBLAS_CORETYPE that fits this CPU; empty if the kernel set fits already
  // or the library is not OpenBLAS.
  std::string better_core() const;
};

// Asks the library loaded into this process.
Blas blas();

}  // namespace flightdeck::cli

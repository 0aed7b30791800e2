// SPDX-License-Identifier: MIT
// The command line of the programs that try one random case for each seed.
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <stdexcept>
#include <string>

namespace flightdeck::tests {

struct Settings {
  int64_t models = 0;
  uint64_t seed = 0;
  bool is_verbose = false;
};

inline Settings parse(int argc, char** argv, int64_t models) {
  Settings settings;
  settings.models = models;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (option == "--verbose") {
      settings.is_verbose = true;
      continue;
    }
    // Options of the test framework reach every test executable; they mean nothing here.
    if (option.rfind("--gtest_", 0) == 0) continue;
    if ((option != "--models" && option != "--seed") || i + 1 == argc) {
      throw std::invalid_argument("unknown or incomplete option " + option);
    }
    const unsigned long long value = std::stoull(argv[++i]);
    if (option == "--models") settings.models = static_cast<int64_t>(value);
    if (option == "--seed") settings.seed = value;
  }
  return settings;
}

// Returns the exit status of `run`, or 2 for words that mean nothing. `models` is the default.
inline int seeded_main(const char* program,
                       int argc,
                       char** argv,
                       int64_t models,
                       const std::function<int(const Settings&)>& run) {
  Settings settings;
  try {
    settings = parse(argc, argv, models);
  } catch (const std::exception& error) {
    std::fprintf(
        stderr, "%s: %s\nusage: [--models N] [--seed S] [--verbose]\n", program, error.what());
    return 2;
  }
  return run(settings);
}

}  // namespace flightdeck::tests

// SPDX-License-Identifier: MIT
#include "cockpit/run_info.h"

#include <fstream>

#include <ATen/ATen.h>
#include <torch/version.h>

#include "base/clock.h"
#include "base/host_name.h"
#include "base/shell.h"

namespace flightdeck {
namespace {

// Returns the command line of this process as a shell reads it back; nothing where it is unknown.
std::string command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  return shell_line(words);
}

std::string type_name(at::ScalarType type) {
  switch (type) {
    case at::kFloat:
      return "float32";
    case at::kDouble:
      return "float64";
    case at::kHalf:
      return "float16";
    case at::kBFloat16:
      return "bfloat16";
    default:
      return c10::toString(type);
  }
}

}  // namespace

RunInfo make_run_info(const Parameters& parameters,
                      const std::vector<TrackedQuantity>& all_tracked) {
  RunInfo info;
  info.start_time = seconds_since_1970();
  info.flightdeck_version = FLIGHTDECK_VERSION;
  info.libtorch_version = TORCH_VERSION;
  info.host = host_name();
  info.command = command_line();
  for (const NamedParameter& parameter : parameters) {
    info.parameters.push_back({parameter.name,
                               parameter.tensor.sizes().vec(),
                               type_name(parameter.tensor.scalar_type())});
  }
  if (parameters.size() > 0) info.device = parameters[0].tensor.device().str();
  for (const TrackedQuantity& tracked : all_tracked) {
    const Quantity& quantity = tracked.quantity;
    info.quantities.push_back({quantity.name(),
                               quantity.summary(),
                               quantity.due().text(),
                               quantity.settings_text(),
                               to_string(quantity.cost())});
  }
  return info;
}

}  // namespace flightdeck

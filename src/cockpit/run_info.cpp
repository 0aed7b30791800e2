// SPDX-License-Identifier: MIT
#include "cockpit/run_info.h"

#include <chrono>
#include <fstream>
#include <iterator>
#include <unistd.h>

#include <ATen/ATen.h>
#include <torch/version.h>

namespace flightdeck {
namespace {

std::string host_name() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "";
}

// The command line of this process, its arguments separated by spaces; empty where unknown.
std::string command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  while (!text.empty() && text.back() == '\0') text.pop_back();
  for (char& character : text) {
    if (character == '\0') character = ' ';
  }
  return text;
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

double wall_time() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

RunInfo make_run_info(const Parameters& parameters, const std::vector<Instrument>& instruments) {
  RunInfo info;
  info.start_time = wall_time();
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
  for (const Instrument& instrument : instruments) {
    const Quantity& quantity = instrument.quantity;
    info.quantities.push_back({quantity.name(),
                               quantity.summary(),
                               quantity.schedule().text(),
                               quantity.settings_text(),
                               to_string(quantity.cost())});
  }
  return info;
}

}  // namespace flightdeck

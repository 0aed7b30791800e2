// SPDX-License-Identifier: MIT
#include "run/random_states.h"

#include <mutex>
#include <vector>

#include <ATen/ATen.h>

namespace flightdeck::run {
namespace {

std::vector<at::Device> devices_with(const at::Device& device) {
  std::vector<at::Device> devices = {at::Device(at::kCPU)};
  if (!device.is_cpu()) devices.push_back(device);
  return devices;
}

std::string key_of(const at::Device& device) { return "random/" + device.str(); }

}  // namespace

std::map<std::string, at::Tensor> random_states(const at::Device& device) {
  std::map<std::string, at::Tensor> states;
  for (const at::Device& each : devices_with(device)) {
    at::Generator generator = at::globalContext().defaultGenerator(each);
    const std::lock_guard<std::mutex> lock(generator.mutex());
    states[key_of(each)] = generator.get_state();
  }
  return states;
}

void set_random_states(const std::map<std::string, at::Tensor>& saved, const at::Device& device) {
  for (const at::Device& each : devices_with(device)) {
    at::Generator generator = at::globalContext().defaultGenerator(each);
    const std::lock_guard<std::mutex> lock(generator.mutex());
    generator.set_state(saved.at(key_of(each)));
  }
}

}  // namespace flightdeck::run

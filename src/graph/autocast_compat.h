// SPDX-License-Identifier: MIT
// How LibTorch 1.13 to 2.14 differ in autocast. Its header brings every op along, which few need.
#pragma once

#include <ATen/autocast_mode.h>
#include <torch/version.h>

namespace flightdeck::compat {

// Sets autocast for one kind of device.
inline void set_autocast(c10::DeviceType device, bool is_on, c10::ScalarType type) {
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 4)
  at::autocast::set_autocast_enabled(device, is_on);
  at::autocast::set_autocast_dtype(device, type);
#else
  if (device == c10::kCUDA) {
    at::autocast::set_enabled(is_on);
    at::autocast::set_autocast_gpu_dtype(type);
  } else {
    at::autocast::set_cpu_enabled(is_on);
    at::autocast::set_autocast_cpu_dtype(type);
  }
#endif
}

}  // namespace flightdeck::compat

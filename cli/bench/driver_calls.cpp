// SPDX-License-Identifier: MIT
// CUPTI calls back at every entry into the driver. The few types that are needed are written down
// here, so that no CUDA header is: they have not changed since CUPTI 6.
#include "cli/bench/driver_calls.h"

#include <atomic>
#include <cstring>
#include <dlfcn.h>

namespace flightdeck::cli {
namespace {

constexpr int kDriverDomain = 1;
constexpr int kEnter = 0;

struct CallbackData {
  int site;  // 0 on entry, 1 on exit
  const char* function;
  // The struct of CUPTI has further members that nobody reads.
};

using Callback = void (*)(void* user, int domain, uint32_t id, const CallbackData* data);

struct Cupti {
  int (*subscribe)(void** subscriber, Callback callback, void* user);
  int (*unsubscribe)(void* subscriber);
  int (*enable_domain)(uint32_t enable, void* subscriber, int domain);
};

bool find_cupti(Cupti& cupti) {
  void* library = nullptr;
  for (const char* name : {"libcupti.so.13", "libcupti.so.12", "libcupti.so.11.8", "libcupti.so"}) {
    if (library == nullptr) library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  }
  if (library == nullptr) return false;
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(library, name));
    return function != nullptr;
  };
  return find(cupti.subscribe, "cuptiSubscribe") && find(cupti.unsubscribe, "cuptiUnsubscribe") &&
         find(cupti.enable_domain, "cuptiEnableDomain");
}

bool starts_with(const char* text, const char* beginning) {
  return std::strncmp(text, beginning, std::strlen(beginning)) == 0;
}

class Counter final : public DriverCalls {
 public:
  explicit Counter(const Cupti& cupti) : cupti_(cupti) {
    is_on_ = cupti_.subscribe(&subscriber_, &Counter::called, this) == 0 &&
             cupti_.enable_domain(1, subscriber_, kDriverDomain) == 0;
  }
  ~Counter() override {
    if (subscriber_ != nullptr) cupti_.unsubscribe(subscriber_);
  }
  bool is_on() const { return is_on_; }

  DriverCounts counts() const override { return {kernels_, copies_, waits_}; }

 private:
  static void called(void* user, int, uint32_t, const CallbackData* data) {
    if (data->site != kEnter || data->function == nullptr) return;
    auto& counter = *static_cast<Counter*>(user);
    const char* name = data->function;
    if (starts_with(name, "cuLaunchKernel")) ++counter.kernels_;
    if (starts_with(name, "cuMemcpy")) ++counter.copies_;
    const bool waits = std::strstr(name, "Synchronize") != nullptr;
    if (waits) ++counter.waits_;
  }

  Cupti cupti_;
  void* subscriber_ = nullptr;
  bool is_on_ = false;
  std::atomic<int64_t> kernels_{0}, copies_{0}, waits_{0};
};

}  // namespace

std::unique_ptr<DriverCalls> DriverCalls::count() {
  Cupti cupti{};
  if (!find_cupti(cupti)) return nullptr;
  auto counter = std::make_unique<Counter>(cupti);
  if (!counter->is_on()) return nullptr;
  return counter;
}

}  // namespace flightdeck::cli

// SPDX-License-Identifier: MIT
#include "cli/machine/peak_memory.h"

#include <atomic>
#include <cstring>
#include <malloc.h>

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <c10/util/Exception.h>

namespace flightdeck::cli {
namespace {

std::atomic<int64_t> held_bytes{0};
std::atomic<int64_t> peak_held_bytes{0};
c10::DeleterFnPtr inner_deleter = nullptr;

void count(void* pointer) {
  const int64_t held = held_bytes += static_cast<int64_t>(malloc_usable_size(pointer));
  int64_t peak = peak_held_bytes;
  while (held > peak && !peak_held_bytes.compare_exchange_weak(peak, held)) {
  }
}

void delete_counted(void* pointer) {
  held_bytes -= static_cast<int64_t>(malloc_usable_size(pointer));
  inner_deleter(pointer);
}

// Passes everything on to LibTorch's own allocator and counts. Only the deleter is exchanged, so
// that memory may be returned through either allocator; oneDNN's scratch memory is.
class CountingAllocator final : public c10::Allocator {
 public:
  explicit CountingAllocator(c10::Allocator* inner) : inner_(inner) {
    inner_deleter = inner->raw_deleter();
    TORCH_CHECK(inner_deleter != nullptr,
                "peak memory: LibTorch's CPU allocator does not hand out plain pointers");
  }

  // LibTorch 1.13 declares allocate const, 2.3 and later do not and add copy_data. Each version
  // finds its own function here, hence no `override`.
  c10::DataPtr allocate(size_t bytes) const { return counted(bytes); }
  c10::DataPtr allocate(size_t bytes) { return counted(bytes); }
  void copy_data(void* to, const void* from, size_t bytes) const { std::memcpy(to, from, bytes); }

  c10::DeleterFnPtr raw_deleter() const override { return &delete_counted; }

 private:
  c10::DataPtr counted(size_t bytes) const {
    c10::DataPtr memory = inner_->allocate(bytes);
    if (memory.get() == nullptr) return memory;
    const bool exchanged = memory.compare_exchange_deleter(inner_deleter, &delete_counted);
    TORCH_INTERNAL_ASSERT(exchanged, "an allocation with a deleter of its own");
    count(memory.get());
    return memory;
  }

  c10::Allocator* inner_;
};

int64_t cpu_peak_bytes(const std::function<void()>& work) {
  c10::Allocator* plain = c10::GetCPUAllocator();
  // The allocator lives on, because tensors that outlive `work` return their memory through it.
  static CountingAllocator counting(plain);
  const int64_t before = held_bytes;
  peak_held_bytes = before;
  c10::SetCPUAllocator(&counting);
  try {
    work();
  } catch (...) {
    c10::SetCPUAllocator(plain);
    throw;
  }
  c10::SetCPUAllocator(plain);
  return peak_held_bytes - before;
}

}  // namespace

std::optional<int64_t> peak_bytes(const c10::Device& device, const std::function<void()>& work) {
  return device.is_cuda() ? cuda_peak_bytes(device, work) : cpu_peak_bytes(work);
}

}  // namespace flightdeck::cli

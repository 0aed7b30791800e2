// SPDX-License-Identifier: MIT
#include "kernels/tables/run_time_cuda.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <fstream>
#include <sstream>
#include <vector>

#include "base/whole_file.h"

namespace flightdeck::kernels {
namespace {

constexpr int kMajor = 75, kMinor = 76;  // attributes of a device: its compute capability

template <typename Function>
bool take(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

void* open_first(const std::vector<std::string>& names) {
  // A library that the program has already loaded fits its LibTorch.
  for (const int flags : {RTLD_NOW | RTLD_NOLOAD, RTLD_NOW}) {
    for (const std::string& name : names) {
      if (void* library = dlopen(name.c_str(), flags)) return library;
    }
  }
  return nullptr;
}

struct Nvrtc {
  int (*version)(int*, int*);
  int (*create)(void**, const char*, const char*, int, const char* const*, const char* const*);
  int (*compile)(void*, int, const char* const*);
  int (*cubin_size)(void*, size_t*);
  int (*cubin)(void*, char*);
  int (*log_size)(void*, size_t*);
  int (*log)(void*, char*);
  int (*destroy)(void**);
};

// Returns the folder of LibTorch's own libraries, where pip's CUDA packages lie beside.
std::string folder_of_libtorch() {
  void* library = dlopen("libc10.so", RTLD_NOW | RTLD_NOLOAD);
  void* symbol = library ? dlsym(library, "_ZN3c105ErrorD1Ev") : nullptr;
  Dl_info info;
  if (!symbol || dladdr(symbol, &info) == 0) return "";
  const std::string path = info.dli_fname;
  return path.substr(0, path.rfind('/') + 1);
}

const Nvrtc* nvrtc() {
  static const std::unique_ptr<Nvrtc> found = [] {
    std::vector<std::string> names = {
        "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so"};
    const std::string folder = folder_of_libtorch();
    for (const char* beside : {"../../nvidia/cu13/lib/libnvrtc.so.13",
                               "../../nvidia/cuda_nvrtc/lib/libnvrtc.so.13",
                               "../../nvidia/cuda_nvrtc/lib/libnvrtc.so.12",
                               "../../nvidia/cuda_nvrtc/lib/libnvrtc.so.11.2"}) {
      if (!folder.empty()) names.push_back(folder + beside);
    }
    auto all = std::make_unique<Nvrtc>();
    void* library = open_first(names);
    const bool is_complete = library && take(library, "nvrtcVersion", all->version) &&
                             take(library, "nvrtcCreateProgram", all->create) &&
                             take(library, "nvrtcCompileProgram", all->compile) &&
                             take(library, "nvrtcGetCUBINSize", all->cubin_size) &&
                             take(library, "nvrtcGetCUBIN", all->cubin) &&
                             take(library, "nvrtcGetProgramLogSize", all->log_size) &&
                             take(library, "nvrtcGetProgramLog", all->log) &&
                             take(library, "nvrtcDestroyProgram", all->destroy);
    return is_complete ? std::move(all) : nullptr;
  }();
  return found.get();
}

// Makes a name for a file from the FNV-1a hash of the text.
std::string name_of(const std::string& text) {
  uint64_t hash = 14695981039346656037u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  char name[32];
  std::snprintf(name, sizeof name, "%016llx", static_cast<unsigned long long>(hash));
  return name;
}

// Returns an empty path if the user has no place for such files.
std::string cache_folder() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache && *cache) return std::string(cache) + "/flightdeck";
  const char* home = std::getenv("HOME");
  return home && *home ? std::string(home) + "/.cache/flightdeck" : "";
}

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  content << file.rdbuf();
  return file ? content.str() : "";
}

// Returns an empty text if compiling fails; `why` then says so.
std::string cubin_of(const char* source, const std::string& architecture, std::string& why) {
  void* program = nullptr;
  const Nvrtc& compiler = *nvrtc();
  if (compiler.create(&program, source, "tables.cu", 0, nullptr, nullptr) != 0) {
    why = "off, the run-time compiler takes no program";
    return "";
  }
  const std::string target = "--gpu-architecture=" + architecture;
  const char* options[] = {target.c_str(), "--std=c++17", "-default-device"};
  std::string cubin;
  if (compiler.compile(program, 3, options) == 0) {
    size_t size = 0;
    compiler.cubin_size(program, &size);
    cubin.resize(size);
    compiler.cubin(program, cubin.data());
  } else {
    size_t size = 0;
    compiler.log_size(program, &size);
    std::string log(size, ' ');
    compiler.log(program, log.data());
    why = "off, the run-time compiler refuses them: " + log.substr(0, 400);
  }
  compiler.destroy(&program);
  return cubin;
}

}  // namespace

struct RunTimeCuda::Driver {
  int (*current_context)(void**);
  int (*context_device)(int*);
  int (*attribute)(int*, int, int);
  int (*load)(void**, const void*);
  int (*function)(void**, void*, const char*);
  int (*launch)(void*,
                unsigned,
                unsigned,
                unsigned,
                unsigned,
                unsigned,
                unsigned,
                unsigned,
                void*,
                void**,
                void**);
};

const RunTimeCuda::Driver* RunTimeCuda::driver() {
  static const std::unique_ptr<Driver> found = [] {
    auto all = std::make_unique<Driver>();
    void* library = open_first({"libcuda.so.1", "libcuda.so"});
    const bool is_complete = library && take(library, "cuCtxGetCurrent", all->current_context) &&
                             take(library, "cuCtxGetDevice", all->context_device) &&
                             take(library, "cuDeviceGetAttribute", all->attribute) &&
                             take(library, "cuModuleLoadData", all->load) &&
                             take(library, "cuModuleGetFunction", all->function) &&
                             take(library, "cuLaunchKernel", all->launch);
    return is_complete ? std::move(all) : nullptr;
  }();
  return found.get();
}

void* RunTimeCuda::current_context() {
  void* context = nullptr;
  return driver() && driver()->current_context(&context) == 0 ? context : nullptr;
}

const RunTimeCuda* RunTimeCuda::find(std::string& why) {
  if (!driver()) {
    why = "off, there is no CUDA driver";
    return nullptr;
  }
  if (!current_context()) {
    why = "off, this thread uses no device";
    return nullptr;
  }
  static const RunTimeCuda found(*driver());
  return &found;
}

void* RunTimeCuda::compiled(const char* source, std::string& text) const {
  if (!nvrtc()) {
    text =
        "off, the run-time compiler (NVRTC) is not found; install the package nvidia-cuda-nvrtc "
        "of LibTorch's CUDA version";
    return nullptr;
  }
  int device = 0, major = 0, minor = 0, first = 0, second = 0;
  if (driver_.context_device(&device) != 0 || driver_.attribute(&major, kMajor, device) != 0 ||
      driver_.attribute(&minor, kMinor, device) != 0) {
    text = "off, the device does not tell its architecture";
    return nullptr;
  }
  nvrtc()->version(&first, &second);
  const std::string architecture = "sm_" + std::to_string(10 * major + minor);
  const std::string version = std::to_string(first) + "." + std::to_string(second);
  const std::string folder = cache_folder();
  const std::string path =
      folder + "/" + name_of(architecture + " " + version + "\n" + source) + ".cubin";
  void* module = nullptr;
  text = "on, for " + architecture + ", from the cache";
  const std::string kept = folder.empty() ? "" : content_of(path);
  if (!kept.empty() && driver_.load(&module, kept.data()) == 0) return module;
  const std::string cubin = cubin_of(source, architecture, text);
  if (cubin.empty()) return nullptr;
  if (driver_.load(&module, cubin.data()) != 0) {
    text = "off, the driver does not load what NVRTC " + version + " compiled for " + architecture;
    return nullptr;
  }
  text = "on, compiled by NVRTC " + version + " for " + architecture;
  try {
    if (!folder.empty()) replace_file(path, cubin);
  } catch (const std::exception&) {
    text += "; they could not be kept in " + folder;
  }
  return module;
}

void* RunTimeCuda::function(void* module, const char* name) const {
  void* function = nullptr;
  return driver_.function(&function, module, name) == 0 ? function : nullptr;
}

bool RunTimeCuda::launch(void* function,
                         const LaunchShape& shape,
                         void* stream,
                         void** arguments) const {
  return driver_.launch(function,
                        shape.grid[0],
                        shape.grid[1],
                        shape.grid[2],
                        shape.block[0],
                        shape.block[1],
                        shape.block[2],
                        shape.shared_bytes,
                        stream,
                        arguments,
                        nullptr) == 0;
}

}  // namespace flightdeck::kernels

// SPDX-License-Identifier: MIT
// flightdeck doctor: what a program started from this shell would run on, and what to put right.
// It reports the environment as it is; only training and measuring commands change it, for
// themselves.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <unistd.h>

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <CLI/CLI.hpp>
#include <torch/cuda.h>
#include <torch/version.h>

#include "cli/command.h"
#include "cli/machine/blas.h"
#include "cli/machine/environment.h"
#include "cli/machine/gpus.h"
#include "cli/machine/processor.h"
#include "cli/options/names.h"
#include "cli/text/colour.h"
#include "cli/text/json.h"
#include "cli/text/numbers.h"
#include "kernels/patch_products/patch_products.h"
#include "kernels/tables/tables.h"
#include "serve/assets.h"
#include "serve/http_front.h"
#include "suite/data_set.h"

namespace flightdeck::cli {
namespace {

struct MachineAdvice {
  std::string subject;
  bool is_good = true;
  std::string remark;
  std::string remedy;  // empty if good
};

// Returns the variable's value; "not set" if it has none.
std::string value_of(const char* variable) {
  const char* value = std::getenv(variable);
  return value == nullptr ? "not set" : value;
}

bool is_set(const char* variable) { return std::getenv(variable) != nullptr; }

MachineAdvice kernel_set(const Blas& blas) {
  const std::string cpu = to_string(vector_set());
  if (blas.name == "unknown") {
    return {"blas",
            false,
            "LibTorch's BLAS is neither OpenBLAS nor MKL; matrix products may be slow",
            "install libopenblas0 and make it the alternative for libblas.so.3"};
  }
  if (blas.name != "openblas") return {"blas", true, blas.name + " chooses its kernels by CPU", ""};
  const std::string better = blas.better_core();
  if (better.empty()) {
    return {"blas", true, "OpenBLAS's kernel set " + blas.core + " fits the CPU (" + cpu + ")", ""};
  }
  return {"blas",
          false,
          "OpenBLAS chose its kernel set " + blas.core + " on a CPU with " + cpu +
              ": matrix products run at a fraction of the CPU's speed",
          blas.can_choose_kernels ? "export OPENBLAS_CORETYPE=" + better
                                  : "install an OpenBLAS with DYNAMIC_ARCH (libopenblas0)"};
}

MachineAdvice waiting_threads(const Blas& blas) {
  const std::string policy = value_of("OMP_WAIT_POLICY");
  if (blas.threading != "pthread" || policy == "PASSIVE" || policy == "passive") {
    return {"threads", true, "LibTorch's OpenMP threads leave the cores to BLAS when idle", ""};
  }
  return {"threads",
          false,
          "OMP_WAIT_POLICY is " + policy +
              " and BLAS has threads of its own: idle OpenMP threads "
              "spin on the cores that BLAS wants",
          "export OMP_WAIT_POLICY=PASSIVE, or install libopenblas0-openmp"};
}

MachineAdvice thread_counts(const Blas& blas) {
  const int torch_threads = at::get_num_threads();
  const std::string cores = std::to_string(core_count());
  const std::string remark =
      "LibTorch uses " + std::to_string(torch_threads) + " and BLAS " +
      (blas.threads > 0 ? std::to_string(blas.threads) : "an unknown number") + " on " + cores +
      " cores";
  const bool is_good =
      torch_threads == core_count() && (blas.threads == 0 || blas.threads == core_count());
  return {"thread counts",
          is_good,
          remark,
          is_good ? "" : "export OMP_NUM_THREADS=" + cores + " OPENBLAS_NUM_THREADS=" + cores};
}

MachineAdvice freed_memory() {
  if (is_set("GLIBC_TUNABLES") ||
      (is_set("MALLOC_MMAP_THRESHOLD_") && is_set("MALLOC_TRIM_THRESHOLD_"))) {
    return {"malloc", true, "thresholds are set by the user", ""};
  }
  return {"malloc",
          false,
          "thresholds are the C library's: every large tensor goes back to the kernel when freed, "
          "and its pages are faulted in again at the next step",
          "export MALLOC_MMAP_THRESHOLD_=1073741824 MALLOC_TRIM_THRESHOLD_=2147483647"};
}

// The disk on which 'flightdeck run' records by default.
struct Disk {
  std::string folder = std::filesystem::exists("runs") ? "runs" : ".";
  double free_bytes = 0;
  bool is_writable = false;

  Disk() {
    std::error_code error;
    free_bytes = static_cast<double>(std::filesystem::space(folder, error).available);
    if (error) free_bytes = 0;
    is_writable = access(folder.c_str(), W_OK) == 0;
  }
};

MachineAdvice disk_finding(const Disk& disk) {
  constexpr double kEnough = 1e9;
  const std::string folder = std::filesystem::absolute(disk.folder).lexically_normal().string();
  if (!disk.is_writable) {
    return {"disk", false, folder + " cannot be written", "give 'flightdeck run' another --out"};
  }
  const bool is_good = disk.free_bytes >= kEnough;
  return {"disk",
          is_good,
          bytes(disk.free_bytes) + " free for records in " + folder,
          is_good ? "" : "make room, or give 'flightdeck run' an --out on another disk"};
}

MachineAdvice dashboard_finding() {
  if (!serve::has_http_front()) {
    return {"dashboard",
            false,
            "this flightdeck was built without its server",
            "install libcpp-httplib-dev, run cmake again and build"};
  }
  if (!serve::has_page()) {
    return {"dashboard",
            false,
            "this flightdeck was built without its page; 'serve' has the values alone",
            "install nodejs and npm, run cmake again and build"};
  }
  return {"dashboard", true, "'flightdeck serve' and 'report' are built in", ""};
}

MachineAdvice gpu_finding(const std::vector<std::string>& gpus, int count) {
  if (count > 0) return {"gpu", true, joined(gpus), ""};
  return {
      "gpu",
      true,
      torch::cuda::is_available() ? "none" : "none that LibTorch sees; training runs on the CPU",
      ""};
}

// Says whether the kernels are there that make a watched step cheap on a GPU.
MachineAdvice gpu_kernels_finding(int count) {
  if (count == 0) return {"gpu kernels", true, "not needed without a GPU", ""};
  const torch::Tensor context = torch::zeros({1}, torch::kCUDA);
  const bool is_on = kernels::tables() != nullptr;
  return {
      "gpu kernels",
      is_on,
      kernels::tables_text(),
      is_on ? "" : "without them LibTorch's operations do the same, in some hundred launches more"};
}

MachineAdvice data_finding(const suite::DataDescription& data) {
  const std::string subject = "data set " + data.name;
  if (!data.needs_files) return {subject, true, "generated, needs no files", ""};
  if (data.is_found) return {subject, true, data.folder, ""};
  return {subject,
          false,
          "not found in " + joined(data.searched),
          data.how_to_get + "; without it, --synthetic trains on generated data"};
}

std::vector<suite::DataDescription> all_data() {
  std::vector<suite::DataDescription> all;
  for (const std::string& name : suite::data_set_names()) all.push_back(suite::describe_data(name));
  return all;
}

std::vector<std::string> gpus() {
  const int count = static_cast<int>(torch::cuda::device_count());
  std::vector<std::string> names = gpu_names();
  if (names.empty()) names.resize(static_cast<size_t>(count), "CUDA device");
  return names;
}

struct MachineFacts {
  Blas blas = cli::blas();
  int cuda_devices = static_cast<int>(torch::cuda::device_count());
  std::vector<std::string> gpus = cli::gpus();
  std::string kernel_isa{kernels::patch_products_isa()};
  Disk disk;
  std::vector<suite::DataDescription> data = all_data();
  std::vector<MachineAdvice> findings = {kernel_set(blas),
                                         thread_counts(blas),
                                         waiting_threads(blas),
                                         freed_memory(),
                                         gpu_finding(gpus, cuda_devices),
                                         gpu_kernels_finding(cuda_devices),
                                         disk_finding(disk),
                                         dashboard_finding()};

  MachineFacts() {
    for (const suite::DataDescription& set : data) findings.push_back(data_finding(set));
  }
};

Json json_of(const suite::DataDescription& data) {
  return Json::object()
      .field("name", data.name)
      .field("summary", data.summary)
      .field("needs_files", data.needs_files)
      .field("found", data.is_found)
      .field("folder", data.folder)
      .field("searched", data.searched)
      .field("files", data.files)
      .field("how_to_get", data.how_to_get);
}

void print_json(const MachineFacts& report) {
  Json findings = Json::array();
  for (const MachineAdvice& finding : report.findings) {
    findings.add(Json::object()
                     .field("subject", finding.subject)
                     .field("ok", finding.is_good)
                     .field("remark", finding.remark)
                     .field("remedy", finding.remedy));
  }
  Json data_sets = Json::array();
  for (const suite::DataDescription& set : report.data) data_sets.add(json_of(set));
  const Json object = Json::object()
                          .field("flightdeck", FLIGHTDECK_VERSION)
                          .field("libtorch", TORCH_VERSION)
                          .field("onednn", at::hasMKLDNN())
                          .field("cuda_devices", report.cuda_devices)
                          .field("processor", processor_name())
                          .field("cores", core_count())
                          .field("processor_isa", to_string(vector_set()))
                          .field("kernel_isa", report.kernel_isa)
                          .field("torch_threads", at::get_num_threads())
                          .field("blas", report.blas.description())
                          .field("blas_library", report.blas.library)
                          .field("blas_threads", report.blas.threads)
                          .field("blas_fits", report.blas.better_core().empty())
                          .field("omp_num_threads", value_of("OMP_NUM_THREADS"))
                          .field("omp_wait_policy", value_of("OMP_WAIT_POLICY"))
                          .field("malloc_mmap_threshold", value_of("MALLOC_MMAP_THRESHOLD_"))
                          .field("malloc_trim_threshold", value_of("MALLOC_TRIM_THRESHOLD_"))
                          .field("gpus", report.gpus)
                          .field("disk_folder", report.disk.folder)
                          .field("disk_free_bytes", report.disk.free_bytes)
                          .field("disk_writable", report.disk.is_writable)
                          .field("data_sets", data_sets)
                          .field("findings", findings);
  std::printf("%s\n", object.text().c_str());
}

void print_line(const char* label, const std::string& text) {
  std::printf("  %-10s %s\n", label, text.c_str());
}

void print_text(const MachineFacts& report) {
  const Blas& blas = report.blas;
  std::printf("flightdeck %s\n", FLIGHTDECK_VERSION);
  print_line("LibTorch",
             std::string(TORCH_VERSION) + ", oneDNN " + (at::hasMKLDNN() ? "yes" : "no") +
                 ", CUDA devices " + std::to_string(report.cuda_devices));
  print_line("processor",
             processor_name() + ", " + std::to_string(core_count()) + " cores, " +
                 to_string(vector_set()));
  print_line("kernels", report.kernel_isa);
  print_line("threads",
             std::to_string(at::get_num_threads()) + " LibTorch, " +
                 (blas.threads > 0 ? std::to_string(blas.threads) : "unknown") + " BLAS");
  print_line("BLAS", blas.description() + (blas.library.empty() ? "" : ", " + blas.library));
  print_line("OpenMP",
             "OMP_NUM_THREADS " + value_of("OMP_NUM_THREADS") + ", OMP_WAIT_POLICY " +
                 value_of("OMP_WAIT_POLICY"));
  print_line("malloc",
             "MALLOC_MMAP_THRESHOLD_ " + value_of("MALLOC_MMAP_THRESHOLD_") +
                 ", MALLOC_TRIM_THRESHOLD_ " + value_of("MALLOC_TRIM_THRESHOLD_"));
  std::printf("\n");
  for (const MachineAdvice& finding : report.findings) {
    std::printf("%s %s: %s\n",
                finding.is_good ? coloured("ok    ", Colour::kGreen, STDOUT_FILENO).c_str()
                                : coloured("advice", Colour::kYellow, STDOUT_FILENO).c_str(),
                finding.subject.c_str(),
                finding.remark.c_str());
    if (!finding.is_good) std::printf("       remedy: %s\n", finding.remedy.c_str());
  }
}

void add_doctor(CLI::App* command) {
  const auto as_json = std::make_shared<bool>(false);
  command->add_flag("--json", *as_json, "Print one JSON object");
  command->footer(
      "LibTorch, BLAS, threads, memory settings, GPUs, disk and data sets, as a program started "
      "from\n"
      "this shell gets them.\n"
      "Data sets are searched in $FLIGHTDECK_DATA/NAME, ~/.local/share/flightdeck/NAME and the\n"
      "usual places.\n"
      "Example:\n"
      "  FLIGHTDECK_DATA=~/data flightdeck doctor");
  command->callback([as_json] {
    const MachineFacts report;
    if (*as_json) {
      print_json(report);
    } else {
      print_text(report);
    }
  });
}

}  // namespace

Command doctor_command() {
  return {"doctor", "Report what this machine has and what to put right.", 140, &add_doctor};
}

}  // namespace flightdeck::cli

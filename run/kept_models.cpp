// SPDX-License-Identifier: MIT
#include "run/kept_models.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include <ATen/ATen.h>
#include <c10/util/Exception.h>
#include <torch/nn/module.h>
#include <torch/serialize/archive.h>

#include "base/whole_file.h"

namespace flightdeck::run {
namespace {

std::string models_in(const std::string& run_folder) { return run_folder + "/models"; }

std::string model_file(const std::string& run_folder, int64_t step) {
  char name[40];
  std::snprintf(name, sizeof name, "/step_%08lld.pt", static_cast<long long>(step));
  return models_in(run_folder) + name;
}

// Returns the module's own tensors, not copies.
std::map<std::string, Tensor> tensors_of(const torch::nn::Module& module) {
  std::map<std::string, Tensor> tensors;
  for (const auto& entry : module.named_parameters()) tensors[entry.key()] = entry.value();
  for (const auto& entry : module.named_buffers()) tensors[entry.key()] = entry.value();
  return tensors;
}

std::map<std::string, Tensor> read_model(const std::string& path) {
  std::map<std::string, Tensor> tensors;
  try {
    torch::serialize::InputArchive archive;
    archive.load_from(path);
    c10::IValue model;
    archive.read("model", model);
    for (const auto& entry : model.toGenericDict()) {
      tensors[entry.key().toStringRef()] = entry.value().toTensor();
    }
  } catch (const std::exception& error) {
    TORCH_CHECK(false,
                "kept model: ",
                path,
                " cannot be read; it is not there, or no model of a run\n  ",
                std::string(error.what()).substr(0, 300));
  }
  return tensors;
}

}  // namespace

void keep_model(const std::string& run_folder, int64_t step, const torch::nn::Module& module) {
  std::error_code error;
  std::filesystem::create_directories(models_in(run_folder), error);
  TORCH_CHECK(!error,
              "kept model: the folder ",
              models_in(run_folder),
              " cannot be made (",
              error.message(),
              "); make room, or remove what is in its place");
  c10::Dict<std::string, Tensor> dictionary;
  for (const auto& [name, tensor] : tensors_of(module)) {
    dictionary.insert(name, tensor.detach().cpu());
  }
  torch::serialize::OutputArchive archive;
  archive.write("step", c10::IValue(step));
  archive.write("model", c10::IValue(dictionary));
  WholeFile file(model_file(run_folder, step));
  // The writer must not learn of a failed write, as in checkpoint.cpp; the file remembers it.
  archive.save_to([&file](const void* bytes, size_t count) {
    file.write({static_cast<const char*>(bytes), count});
    return count;
  });
  file.finish();
  file.keep();
}

std::vector<int64_t> kept_steps(const std::string& run_folder) {
  std::vector<int64_t> steps;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(models_in(run_folder), none)) {
    long long step = 0;
    int length = 0;
    const std::string name = entry.path().filename().string();
    const bool is_model = std::sscanf(name.c_str(), "step_%lld.pt%n", &step, &length) == 1 &&
                          length == static_cast<int>(name.size());
    if (is_model) steps.push_back(step);
  }
  std::sort(steps.begin(), steps.end());
  return steps;
}

void load_kept_model(const std::string& run_folder, int64_t step, torch::nn::Module& module) {
  const std::string path = model_file(run_folder, step);
  const std::map<std::string, Tensor> kept = read_model(path);
  const std::map<std::string, Tensor> own = tensors_of(module);
  TORCH_CHECK_VALUE(kept.size() == own.size(),
                    "kept model: ",
                    path,
                    " has ",
                    kept.size(),
                    " tensors but the module has ",
                    own.size(),
                    "; build the model of the run");
  for (const auto& [name, tensor] : own) {
    const auto found = kept.find(name);
    TORCH_CHECK_VALUE(found != kept.end(),
                      "kept model: ",
                      path,
                      " has no '",
                      name,
                      "'; build the model of the run");
    TORCH_CHECK_VALUE(found->second.sizes() == tensor.sizes(),
                      "kept model: '",
                      name,
                      "' has the shape ",
                      found->second.sizes(),
                      " in ",
                      path,
                      " but ",
                      tensor.sizes(),
                      " in the module; build the model of the run");
  }
  const at::NoGradGuard without_gradients;
  for (const auto& [name, tensor] : own) tensor.copy_(kept.at(name));
}

}  // namespace flightdeck::run

// SPDX-License-Identifier: MIT
#include "cockpit/saved_state.h"

#include <chrono>
#include <set>

#include <ATen/ATen.h>

#include "graph/transient_parameters.h"

namespace flightdeck {
namespace {

constexpr const char* kSeconds = "seconds";

constexpr const char* kParameter = "initial/";
constexpr const char* kQuantity = "quantity/";
constexpr const char* kSettings = "settings/";
constexpr const char* kEigenvectors = "eigenvectors/";

constexpr const char* kRemedy =
    "; load it into a cockpit with the parameters, quantities and settings it was saved of";

// Follows kind and samples in the key of a matrix that is preconditioned.
constexpr const char* kScaled = "/scaled";

std::string eigenvectors_key(const MatrixKey& matrix) {
  const auto& [kind, samples, is_preconditioned] = matrix;
  return kEigenvectors + std::to_string(static_cast<int>(kind)) + "/" + std::to_string(samples) +
         (is_preconditioned ? kScaled : "");
}

// Returns what follows the prefix in a key; nothing if the key begins otherwise.
std::string name_after(const std::string& prefix, const std::string& key) {
  return key.compare(0, prefix.size(), prefix) == 0 ? key.substr(prefix.size()) : "";
}

Tensor numbers(const std::vector<double>& values) { return at::tensor(values, at::kDouble); }

// Turns a text into a tensor, since archives hold tensors alone.
Tensor bytes_of(const std::string& text) {
  return at::tensor(std::vector<int64_t>(text.begin(), text.end()), at::kLong).to(at::kChar);
}
std::string text_of(const Tensor& bytes) {
  const Tensor here = bytes.to(at::kCPU, at::kChar).contiguous();
  return std::string(reinterpret_cast<const char*>(here.data_ptr<int8_t>()), here.numel());
}

const Tensor& find(const std::map<std::string, Tensor>& saved,
                   const std::string& key,
                   const std::string& what) {
  const auto entry = saved.find(key);
  TORCH_CHECK_VALUE(entry != saved.end(), "cockpit: the saved state has no ", what, kRemedy);
  return entry->second;
}

std::string quoted(const char* kind, const std::string& name) {
  return std::string(kind) + " '" + name + "'";
}

// Loads a tracked quantity: the first number says whether it is on; its own follow.
void load_tracked(const Tensor& state, TrackedQuantity& tracked) {
  const Tensor values = state.to(at::kCPU, at::kDouble).contiguous();
  const double* begin = values.data_ptr<double>();
  tracked.is_on = begin[0] != 0;
  const std::vector<double> own(begin + 1, begin + values.numel());
  if (tracked.functions.load && !own.empty()) tracked.functions.load(own);
}

void check_parameters(const std::map<std::string, Tensor>& saved, const Parameters& parameters) {
  std::set<std::string> names;
  for (const auto& [name, tensor] : parameters) {
    names.insert(name);
    if (is_transient(tensor)) continue;
    const Tensor initial = find(saved, kParameter + name, quoted("parameter", name));
    TORCH_CHECK_VALUE(initial.sizes() == tensor.sizes(),
                      "cockpit: the saved parameter '",
                      name,
                      "' has the shape ",
                      initial.sizes(),
                      " but the model's has ",
                      tensor.sizes(),
                      kRemedy);
    TORCH_CHECK_VALUE(initial.scalar_type() == tensor.scalar_type(),
                      "cockpit: the saved parameter '",
                      name,
                      "' has the type ",
                      initial.scalar_type(),
                      " but the model's has ",
                      tensor.scalar_type(),
                      kRemedy);
  }
  for (const auto& [key, value] : saved) {
    const std::string name = name_after(kParameter, key);
    TORCH_CHECK_VALUE(name.empty() || names.count(name) > 0,
                      "cockpit: the saved state has a parameter '",
                      name,
                      "' which this cockpit does not watch",
                      kRemedy);
  }
}

void check_quantities(const std::map<std::string, Tensor>& saved,
                      const std::vector<TrackedQuantity>& all_tracked) {
  std::set<std::string> names;
  for (const TrackedQuantity& tracked : all_tracked) {
    const std::string& name = tracked.quantity.name();
    names.insert(name);
    find(saved, kQuantity + name, quoted("quantity", name));
    const std::string theirs =
        text_of(find(saved, kSettings + name, quoted("settings of quantity", name)));
    const std::string& ours = tracked.quantity.settings_text();
    TORCH_CHECK_VALUE(theirs == ours,
                      "cockpit: the saved quantity '",
                      name,
                      "' has the settings '",
                      theirs,
                      "' but this cockpit's has '",
                      ours,
                      "'",
                      kRemedy);
  }
  for (const auto& [key, value] : saved) {
    const std::string name = name_after(kQuantity, key);
    TORCH_CHECK_VALUE(name.empty() || names.count(name) > 0,
                      "cockpit: the saved state has a quantity '",
                      name,
                      "' which this cockpit does not have",
                      kRemedy);
  }
}

}  // namespace

std::map<std::string, Tensor> save_state(const StepContext& context,
                                         const std::vector<TrackedQuantity>& all_tracked) {
  std::map<std::string, Tensor> saved;
  saved[kSeconds] = numbers({seconds_since(context.start)});
  for (size_t k = 0; k < context.parameters.size(); ++k) {
    const auto& [name, tensor] = context.parameters[k];
    if (!is_transient(tensor)) saved[kParameter + name] = context.initial_parameters[k];
  }
  for (const auto& [matrix, vectors] : context.eigenvectors) {
    if (vectors.defined()) saved[eigenvectors_key(matrix)] = vectors;
  }
  for (const TrackedQuantity& tracked : all_tracked) {
    std::vector<double> state = {tracked.is_on ? 1.0 : 0.0};
    if (tracked.functions.save) {
      const std::vector<double> own = tracked.functions.save();
      state.insert(state.end(), own.begin(), own.end());
    }
    const std::string& name = tracked.quantity.name();
    saved[kQuantity + name] = numbers(state);
    saved[kSettings + name] = bytes_of(tracked.quantity.settings_text());
  }
  return saved;
}

void load_state(const std::map<std::string, Tensor>& saved,
                StepContext& context,
                std::vector<TrackedQuantity>& all_tracked) {
  check_parameters(saved, context.parameters);
  check_quantities(saved, all_tracked);
  const double seconds = find(saved, kSeconds, "time").item<double>();
  for (size_t k = 0; k < context.parameters.size(); ++k) {
    const auto& [name, tensor] = context.parameters[k];
    if (!is_transient(tensor)) context.initial_parameters[k].copy_(saved.at(kParameter + name));
  }
  for (TrackedQuantity& tracked : all_tracked) {
    load_tracked(saved.at(kQuantity + tracked.quantity.name()), tracked);
  }
  const at::Device device = context.initial_parameters.at(0).device();
  for (const auto& [key, vectors] : saved) {
    const std::string matrix = name_after(kEigenvectors, key);
    if (matrix.empty()) continue;
    const auto kind = static_cast<CurvatureKind>(std::stoi(matrix));
    const int64_t samples = std::stoll(matrix.substr(matrix.find('/') + 1));
    const bool is_preconditioned = matrix.find(kScaled) != std::string::npos;
    context.eigenvectors[{kind, samples, is_preconditioned}] = vectors.to(device);
  }
  context.start = std::chrono::steady_clock::now() -
                  std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                      std::chrono::duration<double>(seconds));
}

}  // namespace flightdeck

// SPDX-License-Identifier: MIT
#include "cockpit/saved_state.h"

#include <chrono>

#include <ATen/ATen.h>

namespace flightdeck {
namespace {

constexpr const char* kSeconds = "seconds";

std::string parameter_key(const std::string& name) { return "initial/" + name; }
std::string quantity_key(const std::string& name) { return "quantity/" + name; }

std::string eigenvectors_key(const std::pair<CurvatureKind, int64_t>& matrix) {
  return "eigenvectors/" + std::to_string(static_cast<int>(matrix.first)) + "/" +
         std::to_string(matrix.second);
}
constexpr size_t kEigenvectorsPrefix = sizeof "eigenvectors/" - 1;

Tensor numbers(const std::vector<double>& values) { return at::tensor(values, at::kDouble); }

const Tensor& find(const std::map<std::string, Tensor>& saved,
                   const std::string& key,
                   const std::string& kind,
                   const std::string& name) {
  const auto entry = saved.find(key);
  TORCH_CHECK_VALUE(entry != saved.end(),
                    "cockpit: the saved state has no ",
                    kind,
                    " '",
                    name,
                    "'; load it into a cockpit with the parameters and quantities it was saved of");
  return entry->second;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// The first number says whether it is on; its own follow.
void load_instrument(const Tensor& state, Instrument& instrument) {
  const Tensor values = state.to(at::kCPU, at::kDouble).contiguous();
  const double* begin = values.data_ptr<double>();
  instrument.is_on = begin[0] != 0;
  const std::vector<double> own(begin + 1, begin + values.numel());
  if (instrument.functions.load && !own.empty()) instrument.functions.load(own);
}

}  // namespace

std::map<std::string, Tensor> save_state(const StepContext& context,
                                         const std::vector<Instrument>& instruments) {
  std::map<std::string, Tensor> saved;
  saved[kSeconds] = numbers({seconds_since(context.start)});
  for (size_t k = 0; k < context.parameters.size(); ++k) {
    saved[parameter_key(context.parameters[k].name)] = context.initial_parameters[k];
  }
  for (const auto& [matrix, vectors] : context.eigenvectors) {
    if (vectors.defined()) saved[eigenvectors_key(matrix)] = vectors;
  }
  for (const Instrument& instrument : instruments) {
    std::vector<double> state = {instrument.is_on ? 1.0 : 0.0};
    if (instrument.functions.save) {
      const std::vector<double> own = instrument.functions.save();
      state.insert(state.end(), own.begin(), own.end());
    }
    saved[quantity_key(instrument.quantity.name())] = numbers(state);
  }
  return saved;
}

void load_state(const std::map<std::string, Tensor>& saved,
                StepContext& context,
                std::vector<Instrument>& instruments) {
  for (size_t k = 0; k < context.parameters.size(); ++k) {
    const NamedParameter& parameter = context.parameters[k];
    const Tensor initial = find(saved, parameter_key(parameter.name), "parameter", parameter.name);
    TORCH_CHECK_VALUE(initial.sizes() == parameter.tensor.sizes(),
                      "cockpit: the saved parameter '",
                      parameter.name,
                      "' has the shape ",
                      initial.sizes(),
                      " but the model's has ",
                      parameter.tensor.sizes());
    context.initial_parameters[k].copy_(initial);
  }
  for (Instrument& instrument : instruments) {
    const std::string& name = instrument.quantity.name();
    load_instrument(find(saved, quantity_key(name), "quantity", name), instrument);
  }
  const at::Device device = context.initial_parameters.at(0).device();
  for (const auto& [key, vectors] : saved) {
    if (key.compare(0, kEigenvectorsPrefix, "eigenvectors/") != 0) continue;
    const size_t slash = key.find('/', kEigenvectorsPrefix);
    const auto kind = static_cast<CurvatureKind>(std::stoi(key.substr(kEigenvectorsPrefix)));
    context.eigenvectors[{kind, std::stoll(key.substr(slash + 1))}] = vectors.to(device);
  }
  const double seconds = find(saved, kSeconds, "time", kSeconds).item<double>();
  context.start = std::chrono::steady_clock::now() -
                  std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                      std::chrono::duration<double>(seconds));
}

}  // namespace flightdeck

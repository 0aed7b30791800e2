// SPDX-License-Identifier: MIT
#include "suite/checked_optimizer.h"

#include <sstream>
#include <type_traits>

#include <torch/serialize/archive.h>
#include <torch/utils.h>

namespace flightdeck::suite {
namespace {

using torch::serialize::InputArchive;
using torch::serialize::OutputArchive;

// LibTorch 1.13 keys the state of a parameter by the text of its address, later versions by the
// address.
template <typename Key>
Key state_key(void* address) {
  if constexpr (std::is_same_v<Key, std::string>) {
    std::ostringstream text;
    text << address;
    return text.str();
  } else {
    return address;
  }
}

c10::IValue read(InputArchive& archive, const std::string& key) {
  c10::IValue value;
  TORCH_CHECK_VALUE(archive.try_read(key, value),
                    "load optimizer: the archive has no '",
                    key,
                    "'; load what this optimizer has saved");
  return value;
}

std::string numbered(const std::string& word, size_t index) { return word + std::to_string(index); }

// Reads a state and gives its tensors the memory that those of a running optimizer have.
std::unique_ptr<FormulaState> read_state(InputArchive& archive,
                                         const CheckedOptions& options,
                                         const Tensor& parameter) {
  auto state = std::make_unique<FormulaState>();
  state->serialize(archive);
  for (size_t i = 0; i < state->tensors.size(); ++i) {
    Tensor& tensor = state->tensors[i];
    const std::vector<int64_t> shape = options.state_shape(i, parameter);
    TORCH_CHECK_VALUE(tensor.sizes() == shape,
                      "load optimizer: '",
                      state->names[i],
                      "' has shape ",
                      tensor.sizes(),
                      " but its parameter ",
                      parameter.sizes(),
                      " needs ",
                      c10::IntArrayRef(shape),
                      "; load it for the model it was saved with");
    tensor = tensor.sizes() == parameter.sizes() ? at::empty_like(parameter).copy_(tensor)
                                                 : tensor.to(parameter.device());
  }
  return state;
}

struct SavedGroup {
  std::unique_ptr<torch::optim::OptimizerOptions> options;
  std::vector<std::unique_ptr<FormulaState>> states;  // null: not updated yet
};

SavedGroup read_group(InputArchive& archive, const torch::optim::OptimizerParamGroup& group) {
  const auto count = static_cast<size_t>(read(archive, "parameters").toInt());
  TORCH_CHECK_VALUE(count == group.params().size(),
                    "load optimizer: a group of the archive has ",
                    count,
                    " parameters but the optimizer's ",
                    group.params().size(),
                    "; load it for the model it was saved with");
  SavedGroup saved{group.options().clone(), {}};
  InputArchive options;
  archive.read("options", options);
  saved.options->serialize(options);
  at::NoGradGuard without_gradients;
  for (size_t i = 0; i < count; ++i) {
    InputArchive state;
    const bool is_there = archive.try_read(numbered("state", i), state);
    saved.states.push_back(is_there ? read_state(state, options_of(group), group.params()[i])
                                    : nullptr);
  }
  return saved;
}

}  // namespace

// ---- state --------------------------------------------------------------------------------------

std::unique_ptr<torch::optim::OptimizerParamState> FormulaState::clone() const {
  return std::make_unique<FormulaState>(*this);
}

void FormulaState::serialize(OutputArchive& archive) const {
  archive.write("steps", c10::IValue(steps));
  archive.write("carried", c10::IValue(carried));
  archive.write("count", c10::IValue(static_cast<int64_t>(names.size())));
  for (size_t i = 0; i < names.size(); ++i) {
    archive.write(numbered("name", i), c10::IValue(names[i]));
    archive.write(numbered("tensor", i), tensors[i], /*is_buffer=*/true);
  }
}

void FormulaState::serialize(InputArchive& archive) {
  steps = read(archive, "steps").toInt();
  carried = read(archive, "carried").toDouble();
  const auto count = static_cast<size_t>(read(archive, "count").toInt());
  names.resize(count);
  tensors.resize(count);
  for (size_t i = 0; i < count; ++i) {
    names[i] = read(archive, numbered("name", i)).toStringRef();
    archive.read(numbered("tensor", i), tensors[i], /*is_buffer=*/true);
  }
}

// ---- options ------------------------------------------------------------------------------------

std::vector<int64_t> CheckedOptions::state_shape(size_t, const Tensor& parameter) const {
  return parameter.sizes().vec();
}

void CheckedOptions::check() const {
  const auto copy = clone();
  for (const Field& field : static_cast<CheckedOptions&>(*copy).fields()) {
    field.about.check(name(), *field.value);
  }
}

void CheckedOptions::serialize(OutputArchive& archive) const {
  archive.write("rule", c10::IValue(name()));
  const auto copy = clone();
  for (const Field& field : static_cast<CheckedOptions&>(*copy).fields()) {
    archive.write(field.about.name, c10::IValue(*field.value));
  }
}

void CheckedOptions::serialize(InputArchive& archive) {
  const std::string saved = read(archive, "rule").toStringRef();
  TORCH_CHECK_VALUE(saved == name(),
                    "load optimizer: the archive is of ",
                    saved,
                    " but this is ",
                    name(),
                    "; load it into the optimizer that saved it");
  for (const Field& field : fields()) *field.value = read(archive, field.about.name).toDouble();
}

// ---- optimizer ----------------------------------------------------------------------------------

CheckedOptimizer::CheckedOptimizer(std::vector<torch::optim::OptimizerParamGroup> groups,
                                   std::unique_ptr<CheckedOptions> options)
    : Optimizer(std::vector<torch::optim::OptimizerParamGroup>(), std::move(options)) {
  for (const torch::optim::OptimizerParamGroup& group : groups) add_param_group(group);
}

void CheckedOptimizer::add_param_group(const torch::optim::OptimizerParamGroup& group) {
  Optimizer::add_param_group(group);
  torch::optim::OptimizerParamGroup& added = param_groups().back();
  if (group.has_options()) added.set_options(group.options().clone());
  options_of(added).check();
}

const CheckedOptions& options_of(const torch::optim::OptimizerParamGroup& group) {
  const auto* options = dynamic_cast<const CheckedOptions*>(&group.options());
  TORCH_CHECK_VALUE(options != nullptr,
                    "optimizer: a parameter group has the options of another library's "
                    "optimizer; give it options of the suite or none");
  return *options;
}

const CheckedOptimizer::StateKey& CheckedOptimizer::key_of(size_t index, const Tensor& parameter) {
  void* address = parameter.unsafeGetTensorImpl();
  if (index >= slots_.size()) slots_.resize(index + 1, Slot{nullptr, StateKey()});
  Slot& slot = slots_[index];
  if (slot.owner != address) slot = {address, state_key<StateKey>(address)};
  return slot.key;
}

FormulaState& CheckedOptimizer::state_at(size_t index, const Tensor& parameter) {
  std::unique_ptr<torch::optim::OptimizerParamState>& place = state()[key_of(index, parameter)];
  if (place == nullptr) place = std::make_unique<FormulaState>();
  return static_cast<FormulaState&>(*place);
}

void CheckedOptimizer::save(OutputArchive& archive) const {
  archive.write("groups", c10::IValue(static_cast<int64_t>(param_groups().size())));
  for (size_t i = 0; i < param_groups().size(); ++i) {
    const torch::optim::OptimizerParamGroup& group = param_groups()[i];
    OutputArchive saved(archive.compilation_unit()), options(archive.compilation_unit());
    options_of(group).serialize(options);
    saved.write("options", options);
    saved.write("parameters", c10::IValue(static_cast<int64_t>(group.params().size())));
    for (size_t k = 0; k < group.params().size(); ++k) {
      const auto found = state().find(state_key<StateKey>(group.params()[k].unsafeGetTensorImpl()));
      if (found == state().end()) continue;
      OutputArchive one(archive.compilation_unit());
      found->second->serialize(one);
      saved.write(numbered("state", k), one);
    }
    archive.write(numbered("group", i), saved);
  }
}

void CheckedOptimizer::load(InputArchive& archive) {
  const auto count = static_cast<size_t>(read(archive, "groups").toInt());
  TORCH_CHECK_VALUE(count == param_groups().size(),
                    "load optimizer: the archive has ",
                    count,
                    " parameter groups but the optimizer ",
                    param_groups().size(),
                    "; add the groups before loading");
  // Everything is read before anything is replaced: an archive that does not fit leaves no trace.
  std::vector<SavedGroup> groups;
  for (size_t i = 0; i < count; ++i) {
    InputArchive saved;
    archive.read(numbered("group", i), saved);
    groups.push_back(read_group(saved, param_groups()[i]));
  }
  for (size_t i = 0; i < count; ++i) {
    torch::optim::OptimizerParamGroup& group = param_groups()[i];
    group.set_options(std::move(groups[i].options));
    for (size_t k = 0; k < group.params().size(); ++k) {
      const StateKey key = state_key<StateKey>(group.params()[k].unsafeGetTensorImpl());
      state().erase(key);
      if (groups[i].states[k] != nullptr) state()[key] = std::move(groups[i].states[k]);
    }
  }
}

}  // namespace flightdeck::suite

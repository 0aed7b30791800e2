// SPDX-License-Identifier: MIT
// The one place that knows how LibTorch 1.13 to 2.14 differ, with autocast_compat.h beside it.
// Everything else reads autograd nodes through these names.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <c10/core/DispatchKeySet.h>
#include <c10/core/SafePyObject.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/SymInt.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/functions/accumulate_grad.h>
#include <torch/csrc/autograd/functions/tensor.h>
#include <torch/csrc/autograd/generated/Functions.h>
#include <torch/csrc/autograd/graph_task.h>
#include <torch/csrc/autograd/saved_variable.h>
#include <torch/csrc/autograd/variable.h>
#include <torch/version.h>

namespace torch::autograd {
struct PyFunctionPreHook;
struct PyFunctionTensorPreHook;
}  // namespace torch::autograd

namespace flightdeck::compat {

namespace ag = torch::autograd;
namespace nodes = torch::autograd::generated;

// A NodePtr holds a node. Since LibTorch 2.13 nodes count their own references.
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 13)
using NodePtr = c10::intrusive_ptr<ag::Node>;
using WeakNodePtr = c10::weak_intrusive_ptr<ag::Node>;
inline NodePtr pointer_to(ag::Node& node) { return node.getptr(); }
inline NodePtr take_new(ag::Node* node) { return NodePtr::unsafe_steal_from_new(node); }
#else
using NodePtr = std::shared_ptr<ag::Node>;
using WeakNodePtr = std::weak_ptr<ag::Node>;
inline NodePtr pointer_to(ag::Node& node) { return node.shared_from_this(); }
inline NodePtr take_new(ag::Node* node) { return NodePtr(node); }
#endif

// Sizes in node fields are int64_t or SymInt, by version and by field.
inline int64_t to_int(int64_t value) { return value; }
inline int64_t to_int(const c10::SymInt& value) { return value.expect_int(); }

template <typename List>
std::vector<int64_t> to_ints(const List& values) {
  std::vector<int64_t> ints;
  ints.reserve(values.size());
  for (const auto& value : values) ints.push_back(to_int(value));
  return ints;
}

template <typename Optional>
int64_t to_int_or(const Optional& value, int64_t otherwise) {
  return value.has_value() ? to_int(*value) : otherwise;
}

#if TORCH_VERSION_MAJOR < 2
// LibTorch 1.13 keeps the recorded shape private. An explicit instantiation may name a private
// member, which is the language's own way in.
c10::SymIntArrayRef recorded_shape(const ag::InputMetadata& metadata);
template <auto Shape>
struct RecordedShape {
  friend c10::SymIntArrayRef recorded_shape(const ag::InputMetadata& metadata) {
    return (metadata.*Shape)();
  }
};
template struct RecordedShape<&ag::InputMetadata::shape_as_dim_vector>;
#else
inline auto recorded_shape(const ag::InputMetadata& metadata) {
  return metadata.shape_as_dim_vector();
}
#endif

// Returns the shape of the forward tensor whose gradient arrives as input `index` of the node.
inline std::vector<int64_t> shape_of(const ag::Node& node, size_t index) {
  return to_ints(recorded_shape(node.input_metadata(index)));
}

// Holds what a softmax node saved. LibTorch 2 has a second one, in attention that is not fused:
// there a row without any score that is finite gives zeros.
struct SavedSoftmax {
  const ag::SavedVariable* result = nullptr;
  int64_t dim = 0;
};

template <typename NodeType>
bool read_softmax_as(const ag::Node& node, SavedSoftmax& softmax) {
  const auto* typed = dynamic_cast<const NodeType*>(&node);
  if (typed) softmax = {&typed->result_, to_int(typed->dim)};
  return typed != nullptr;
}
inline bool read_softmax(const ag::Node& node, SavedSoftmax& softmax) {
#if TORCH_VERSION_MAJOR >= 2
  if (read_softmax_as<nodes::SafeSoftmaxBackward0>(node, softmax)) return true;
#endif
  return read_softmax_as<nodes::SoftmaxBackward0>(node, softmax) ||
         read_softmax_as<nodes::LogSoftmaxBackward0>(node, softmax);
}

// Holds what a fused attention node saved. LibTorch 1.13 has no such node.
struct FusedAttention {
  const ag::SavedVariable* query = nullptr;
  const ag::SavedVariable* key = nullptr;
  const ag::SavedVariable* value = nullptr;
  const ag::SavedVariable* bias = nullptr;  // added to the scores; null: none
  bool is_causal = false;
  double dropout = 0;
  double scale = 0;  // 0: the default, one over the root of the number of features
};

#if TORCH_VERSION_MAJOR < 2
inline bool read_attention(const ag::Node&, FusedAttention&) { return false; }
#else
template <typename NodeType>
bool read_attention_as(const ag::Node& node, FusedAttention& attention) {
  const auto* typed = dynamic_cast<const NodeType*>(&node);
  if (!typed) return false;
  attention = {&typed->query_,
               &typed->key_,
               &typed->value_,
               nullptr,
               typed->is_causal,
               typed->dropout_p,
               typed->scale.value_or(0)};
  if constexpr (std::is_same_v<NodeType, nodes::ScaledDotProductFlashAttentionForCpuBackward0>) {
    attention.bias = &typed->attn_mask_;
  } else if constexpr (!std::is_same_v<NodeType, nodes::ScaledDotProductFlashAttentionBackward0>) {
    attention.bias = &typed->attn_bias_;
  }
  return true;
}
inline bool read_attention(const ag::Node& node, FusedAttention& attention) {
  return read_attention_as<nodes::ScaledDotProductFlashAttentionForCpuBackward0>(node, attention) ||
         read_attention_as<nodes::ScaledDotProductEfficientAttentionBackward0>(node, attention) ||
         read_attention_as<nodes::ScaledDotProductFlashAttentionBackward0>(node, attention) ||
         read_attention_as<nodes::ScaledDotProductCudnnAttentionBackward0>(node, attention);
}
#endif

// Returns the logarithms of the softmax's sums that a fused attention node saved, null for other
// nodes. Its classes call the field by two names.
#if TORCH_VERSION_MAJOR < 2
inline const ag::SavedVariable* saved_log_sum_exp(const ag::Node&) { return nullptr; }
#else
template <typename NodeType>
auto log_sum_exp_field(const NodeType& node, int) -> decltype(&node.logsumexp_) {
  return &node.logsumexp_;
}
template <typename NodeType>
auto log_sum_exp_field(const NodeType& node, long) -> decltype(&node.log_sumexp_) {
  return &node.log_sumexp_;
}
template <typename... NodeTypes>
const ag::SavedVariable* log_sum_exp_of_one(const ag::Node& node) {
  const ag::SavedVariable* found = nullptr;
  const auto look = [&](const auto* attention) {
    if (attention != nullptr) found = log_sum_exp_field(*attention, 0);
  };
  (look(dynamic_cast<const NodeTypes*>(&node)), ...);
  return found;
}
inline const ag::SavedVariable* saved_log_sum_exp(const ag::Node& node) {
  return log_sum_exp_of_one<nodes::ScaledDotProductCudnnAttentionBackward0,
                            nodes::ScaledDotProductEfficientAttentionBackward0,
                            nodes::ScaledDotProductFlashAttentionBackward0,
                            nodes::ScaledDotProductFlashAttentionForCpuBackward0>(node);
}
#endif

// Returns true for an op that wrote into a view: it holds a node for what it wrote, whose edges
// have to be the same as its own, so that they cannot be taken away.
inline bool has_fixed_edges(const ag::Node& node) {
  return dynamic_cast<const ag::CopySlices*>(&node) != nullptr;
}

// This is a hook of Python's on a tensor. LibTorch 1.13 has one class for those on nodes, too.
#if TORCH_VERSION_MAJOR < 2
using PythonTensorHook = ag::PyFunctionPreHook;
#else
using PythonTensorHook = ag::PyFunctionTensorPreHook;
#endif

// Returns true if a hook besides those that `is_ours` accepts sees or changes the gradients at a
// node. Hooks on tensors are told apart from LibTorch 2 on, and `is_harmless` says who changes
// nothing.
template <typename IsOurs, typename IsHarmless>
bool has_other_hooks(ag::Node& node,
                     const IsOurs& is_ours,
                     [[maybe_unused]] const IsHarmless& is_harmless) {
  if (!node.post_hooks().empty()) return true;
  for (const auto& hook : node.pre_hooks()) {
    if (!is_ours(*hook)) return true;
  }
#if TORCH_VERSION_MAJOR >= 2
  for (const auto& hook : node.tensor_pre_hooks()) {
    if (!is_harmless(*hook)) return true;
  }
#endif
  return false;
}

// Takes the hooks on a node's tensors away for as long as it lives: since LibTorch 2 they are
// called wherever a gradient is asked for at that node, whoever asks.
class NoTensorHooks {
 public:
#if TORCH_VERSION_MAJOR >= 2
  explicit NoTensorHooks(ag::Node& node)
      : node_(pointer_to(node)),
        hooks_(std::exchange(node.tensor_pre_hooks(), {})),
        retaining_(std::exchange(node.retains_grad_hooks(), {})) {}
  ~NoTensorHooks() {
    node_->tensor_pre_hooks() = std::move(hooks_);
    node_->retains_grad_hooks() = std::move(retaining_);
  }
#else
  explicit NoTensorHooks(ag::Node&) {}
#endif
  NoTensorHooks(const NoTensorHooks&) = delete;
  NoTensorHooks& operator=(const NoTensorHooks&) = delete;

#if TORCH_VERSION_MAJOR >= 2
 private:
  NodePtr node_;
  std::vector<std::unique_ptr<ag::FunctionPreHook>> hooks_;
  std::unordered_map<size_t, std::unique_ptr<ag::FunctionPreHook>> retaining_;
#endif
};

// Returns true if reading a saved tensor goes through hooks of the program's. LibTorch 1.13 and
// early 2.x keep them private: see RecordedShape.
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 7)
inline bool has_hooks(const ag::SavedVariable& saved) { return saved.has_hooks(); }
#else
bool has_hooks(const ag::SavedVariable& saved);
template <auto Hooks>
struct SavedHooks {
  friend bool has_hooks(const ag::SavedVariable& saved) { return (saved.*Hooks) != nullptr; }
};
template struct SavedHooks<&ag::SavedVariable::hooks_>;
#endif

// Returns the function that reads a saved tensor with hooks, and what it is given: objects of
// Python's.
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 7)
inline auto hook_and_data(const ag::SavedVariable& saved) {
  return saved.retrieve_unpack_hook_data();
}
#else
inline std::optional<std::pair<c10::SafePyObject, c10::SafePyObject>> hook_and_data(
    const ag::SavedVariable&) {
  return std::nullopt;  // not told
}
#endif

// Compiled autograd leaves this hook out, where others of C++ stop it with an error.
#if TORCH_VERSION_MAJOR < 2
class LeftOutHook : public ag::FunctionPreHook {
 protected:
  virtual void left_out() const = 0;
};
#else
class LeftOutHook : public ag::FunctionPreHook {
 public:
  // One of the two is the virtual function, by version.
  void compiled_args(torch::dynamo::autograd::CompiledNodeArgs&) const { left_out(); }
  void compiled_args(torch::dynamo::autograd::CompiledNodeArgs&) { left_out(); }

 protected:
  virtual void left_out() const = 0;
};
#endif

// Returns all nodes of the backward pass that calls on this thread, or null outside of one.
inline const std::unordered_set<ag::Node*>* nodes_of_pass() {
  return ag::get_current_graph_task_nodes_in_graph();
}

// Calls back when the backward pass that calls on this thread has ended.
inline void at_end_of_pass(std::function<void()> callback) {
  ag::Engine::get_default_engine().queue_callback(std::move(callback));
}

// Returns true within a backward pass for some inputs alone (`autograd::grad`): nodes compute no
// other gradients, whoever calls them.
inline bool is_partial_pass() {
  const auto* wanted = ag::get_current_graph_task_exec_info();
  return wanted && !wanted->empty();
}

// Returns true within a backward pass if what reaches this node of a parameter becomes its `.grad`
// and nobody else has a hand in that.
inline bool becomes_grad(const ag::Node& accumulate) {
  if (at::GradMode::is_enabled() || is_partial_pass()) return false;
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 1)
  if (accumulate.tensor_post_acc_grad_hooks() != nullptr) return false;
#endif
  return accumulate.post_hooks().empty();
}

// Runs the body as if outside of the backward pass that calls: on another thread. A pass may be for
// some inputs alone, and what its nodes saved may be readable only once in it.
template <typename Body>
void outside_pass(c10::Device device, const Body& body) {
  if (nodes_of_pass() == nullptr) {
    body();
    return;
  }
  const c10::impl::VirtualGuardImpl guard(device.type());
  const c10::Stream stream = guard.getStream(device);
  const bool records = at::GradMode::is_enabled();
  std::exception_ptr error;
  std::thread([&] {
    try {
      const c10::StreamGuard same_stream(stream);
      const at::AutoGradMode same_mode(records);
      body();
    } catch (...) {
      error = std::current_exception();
    }
  }).join();
  if (error) std::rethrow_exception(error);
}

// Returns what an optimizer keeps of a tensor, or null. Its map has names as keys before LibTorch
// 2.
template <typename States>
auto* state_of(const States& states, c10::TensorImpl* tensor) {
#if TORCH_VERSION_MAJOR < 2
  const auto found = states.find(c10::guts::to_string(tensor));
#else
  using Key = typename States::key_type;
  Key key{};
  if constexpr (std::is_same_v<Key, std::string>) {
    key = std::to_string(reinterpret_cast<uintptr_t>(tensor));
  } else {
    key = tensor;
  }
  const auto found = states.find(key);
#endif
  return found == states.end() ? nullptr : found->second.get();
}

// Keeps our arithmetic from recording a graph and from the caller's autocast.
class PassGuard {
 public:
  PassGuard() : no_autocast_(c10::autocast_dispatch_keyset) {}

 private:
  at::NoGradGuard no_grad_;
  c10::impl::ExcludeDispatchKeyGuard no_autocast_;
};

}  // namespace flightdeck::compat

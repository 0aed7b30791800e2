// SPDX-License-Identifier: MIT
#include "passes/listeners.h"

#include <map>
#include <set>
#include <utility>

namespace flightdeck {

class Listeners::State : public std::enable_shared_from_this<Listeners::State> {
 public:
  explicit State(std::shared_ptr<const Capture> capture) : capture_(std::move(capture)) {}

  void add(size_t node, size_t owner, Heard heard) {
    listen(0);  // which pass it is, the losses tell
    listen(node);
    functions_[node].push_back({owner, std::move(heard)});
  }

  void at_node(size_t node, const std::vector<Tensor>& gradients) {
    if (node == 0) {
      is_closed_ = is_closed_ || has_started_;  // a second pass over a retained graph
      has_started_ = true;
      if (!is_closed_) remember_pass();
    }
    const auto found = functions_.find(node);
    if (is_closed_ || found == functions_.end() || !is_watched_pass()) return;
    const compat::PassGuard guard;
    std::vector<Tensor> detached;
    for (const Tensor& gradient : gradients) {
      detached.push_back(gradient.defined() ? gradient.detach() : gradient);
    }
    for (const auto& [owner, heard] : found->second) {
      if (errors_.count(owner) > 0) continue;
      try {
        heard(detached);
      } catch (...) {
        errors_[owner] = std::current_exception();
      }
    }
  }

  void check(size_t owner) const {
    const auto found = errors_.find(owner);
    if (found != errors_.end()) std::rethrow_exception(found->second);
  }

  void detach() {
    // Inside a backward pass the engine is going through these very lists: the hooks stay, deaf.
    if (compat::nodes_of_pass() != nullptr) hooks_.clear();
    for (const auto& [weak, hook] : hooks_) {
      const auto node = weak.lock();
      if (!node) continue;
      auto& hooks = node->pre_hooks();
      for (auto it = hooks.begin(); it != hooks.end(); ++it) {
        if (it->get() != hook) continue;
        hooks.erase(it);
        break;
      }
    }
    hooks_.clear();
    is_closed_ = true;
  }

 private:
  void listen(size_t node);  // does nothing the second time

  // Returns true if the pass that calls goes through the losses: all nodes below wait for them in
  // it. The nodes of a pass leave out the one it starts from.
  bool is_watched_pass() const {
    const auto* nodes = compat::nodes_of_pass();
    return nodes && (nodes == current_ || nodes->count(capture_->nodes[0].node) > 0);
  }

  // Remembers the pass until it ends, since the next one may be at the same address.
  void remember_pass() {
    current_ = compat::nodes_of_pass();
    if (current_ == nullptr) return;
    compat::at_end_of_pass([self = weak_from_this()] {
      if (const auto state = self.lock()) state->current_ = nullptr;
    });
  }

  struct Function {
    size_t owner;
    Heard heard;
  };

  std::shared_ptr<const Capture> capture_;
  std::set<size_t> listens_;
  std::map<size_t, std::vector<Function>> functions_;
  std::vector<std::pair<compat::WeakNodePtr, const compat::ag::FunctionPreHook*>> hooks_;
  const std::unordered_set<compat::ag::Node*>* current_ = nullptr;
  std::map<size_t, std::exception_ptr> errors_;
  bool has_started_ = false, is_closed_ = false;
};

namespace {

class ListenerHook final : public compat::LeftOutHook {
 public:
  ListenerHook(std::weak_ptr<Listeners::State> state, size_t node)
      : state_(std::move(state)), node_(node) {}

  compat::ag::variable_list operator()(const compat::ag::variable_list& gradients) override {
    if (const auto state = state_.lock()) state->at_node(node_, gradients);
    return gradients;
  }

 protected:
  void left_out() const override {}

 private:
  std::weak_ptr<Listeners::State> state_;
  size_t node_;
};

}  // namespace

void Listeners::State::listen(size_t node) {
  if (!listens_.insert(node).second) return;
  auto hook = std::make_unique<ListenerHook>(weak_from_this(), node);
  const compat::NodePtr held = compat::pointer_to(*capture_->nodes[node].node);
  hooks_.emplace_back(held, hook.get());
  held->add_pre_hook(std::move(hook));
}

Listeners::Listeners(std::shared_ptr<const Capture> capture)
    : state_(std::make_shared<State>(std::move(capture))) {}

Listeners::~Listeners() { state_->detach(); }

void Listeners::add(size_t node, size_t owner, Heard heard) {
  state_->add(node, owner, std::move(heard));
}

void Listeners::check(size_t owner) const { state_->check(owner); }

void Listeners::detach() { state_->detach(); }

}  // namespace flightdeck

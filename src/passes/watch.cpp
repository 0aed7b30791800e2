// SPDX-License-Identifier: MIT
// Watch: hooks on the nodes of parameter uses see the output gradients of the caller's own
// backward.
#include "flightdeck/watch.h"

#include <exception>
#include <unordered_map>
#include <utility>

#include <ATen/ATen.h>

#include "passes/first_order.h"

namespace flightdeck {

using compat::ag::Edge;
using compat::ag::FunctionPreHook;
using compat::ag::Node;

class Watch::State {
 public:
  State(const Tensor& losses,
        Capture capture,
        const Parameters& parameters,
        Needs what,
        const GradientOptions& options)
      : losses_(losses.detach()),
        pass_(std::move(capture), parameters, what, options),
        reuses_(options.reuse_gradients) {}

  // Called by a hook, on whatever thread runs the node.
  void at_node(size_t position, const variable_list& gradients) {
    if (error_) return;
    try {
      if (position == 0) {
        if (started_) is_closed_ = true;  // a second backward over a retained graph
        if (is_closed_) return;
        started_ = true;
        start(gradients);
      }
      if (!started_ || is_closed_ || pass_.capture().runs_own_pass) return;
      // Rules read shapes through the edges: put them back while they look.
      restore_edges(position);
      pass_.visit(position, gradients);
      if (reuses_) cut_edges(position);
    } catch (...) {
      error_ = std::current_exception();
    }
  }

  Gradients finish() {
    if (error_) std::rethrow_exception(error_);
    TORCH_CHECK(started_,
                "watch: no backward pass went through the losses before finish; call "
                "backward() on a loss computed from them first");
    return pass_.finish(losses_);
  }

  bool has_run() const { return started_; }
  void attach(const std::shared_ptr<State>& self);
  void detach();

 private:
  void start(const variable_list& gradients) {
    const size_t output = pass_.capture().root_output;
    TORCH_CHECK(gradients[output].defined(),
                "watch: no gradient reached the losses; call backward() on a loss computed from "
                "them");
    if (pass_.capture().runs_own_pass) {
      pass_.run(losses_);
      return;
    }
    pass_.run_slow();
    pass_.set_weights(gradients[output]);
  }

  // reuse_gradients: without these edges PyTorch does not compute what the pass hands over.
  void cut_edges(size_t position);
  void restore_edges(size_t position);

  struct Cut {
    std::weak_ptr<Node> node;
    size_t index;
    Edge edge;
  };

  Tensor losses_;
  FirstOrderPass pass_;
  bool reuses_;
  std::vector<std::pair<std::weak_ptr<Node>, const FunctionPreHook*>> hooks_;
  std::unordered_map<size_t, std::vector<Cut>> cuts_;
  bool started_ = false;
  bool is_closed_ = false;
  std::exception_ptr error_;
};

namespace {

class WatchHook final : public FunctionPreHook {
 public:
  WatchHook(std::weak_ptr<Watch::State> state, size_t position)
      : state_(std::move(state)), position_(position) {}

  variable_list operator()(const variable_list& gradients) override {
    if (const auto state = state_.lock()) state->at_node(position_, gradients);
    return gradients;
  }

 private:
  std::weak_ptr<Watch::State> state_;
  size_t position_;
};

}  // namespace

void Watch::State::attach(const std::shared_ptr<State>& self) {
  const Capture& capture = pass_.capture();
  for (size_t k = 0; k < capture.nodes.size(); ++k) {
    if (k != 0 && !pass_.has_uses(k)) continue;
    Node* node = capture.nodes[k].node;
    auto hook = std::make_unique<WatchHook>(self, k);
    hooks_.emplace_back(node->shared_from_this(), hook.get());
    node->add_pre_hook(std::move(hook));
    if (reuses_) cut_edges(k);
  }
}

void Watch::State::cut_edges(size_t position) {
  const CapturedNode& captured = pass_.capture().nodes[position];
  for (size_t e = 0; e < captured.edges.size(); ++e) {
    if (captured.edges[e] != EdgeKind::kUse) continue;
    Edge& edge = captured.node->next_edges()[e];
    cuts_[position].push_back({captured.node->weak_from_this(), e, std::exchange(edge, Edge())});
  }
}

void Watch::State::restore_edges(size_t position) {
  const auto found = cuts_.find(position);
  if (found == cuts_.end()) return;
  for (Cut& cut : found->second) {
    if (const auto node = cut.node.lock()) node->next_edges()[cut.index] = std::move(cut.edge);
  }
  cuts_.erase(found);
}

void Watch::State::detach() {
  for (const auto& [weak, hook] : hooks_) {
    if (const auto node = weak.lock()) {
      auto& hooks = node->pre_hooks();
      for (auto it = hooks.begin(); it != hooks.end(); ++it) {
        if (it->get() != hook) continue;
        hooks.erase(it);
        break;
      }
    }
  }
  hooks_.clear();
  while (!cuts_.empty()) restore_edges(cuts_.begin()->first);
}

Watch::Watch(const Tensor& losses,
             const Parameters& parameters,
             Needs what,
             const GradientOptions& options) {
  TORCH_CHECK_VALUE(!options.reuse_gradients || options.samples.empty(),
                    "watch: reuse_gradients needs all samples but options.samples chooses ",
                    options.samples.size(),
                    "; drop one of the two");
  Capture capture = capture_graph(losses, parameters, options);
  throw_refusals(capture);
  GradientOptions own = options;
  if (capture.runs_own_pass) own.reuse_gradients = false;
  state_ = std::make_shared<State>(losses, std::move(capture), parameters, what, own);
  state_->attach(state_);
}

Watch::~Watch() {
  if (state_) state_->detach();
}

Watch::Watch(Watch&&) noexcept = default;

Watch& Watch::operator=(Watch&& other) noexcept {
  if (state_) state_->detach();
  state_ = std::move(other.state_);
  return *this;
}

bool Watch::has_run() const { return state_ && state_->has_run(); }

Gradients Watch::finish() {
  TORCH_CHECK(state_, "watch: finish was called twice; keep its result");
  const std::shared_ptr<State> state = std::move(state_);
  state->detach();
  return state->finish();
}

}  // namespace flightdeck

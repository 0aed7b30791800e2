// SPDX-License-Identifier: MIT
// Watch: hooks on the nodes of parameter uses see the output gradients of the caller's own
// backward. They are those of the losses unless something else flows in: that is looked for when
// the pass reaches the losses, and the rows then come from a pass of our own.
#include "flightdeck/watch.h"

#include <exception>
#include <unordered_map>
#include <utility>

#include <ATen/ATen.h>
#include <torch/csrc/autograd/graph_task.h>

#include "graph/transient_parameters.h"
#include "passes/first_order.h"
#include "passes/foreign.h"
#include "passes/gradient_fields.h"

namespace flightdeck {

using compat::ag::Edge;
using compat::ag::FunctionPreHook;
using compat::ag::Node;

class Watch::State : public std::enable_shared_from_this<Watch::State> {
 public:
  State(CapturedBatch batch, Needs what, const GradientOptions& options)
      : pass_(std::move(batch), what, options, /*hears_arrivals=*/true),
        needs_arrivals_(what.has(Need::kArrivedNorm)),
        reuses_(options.reuse_gradients) {}

  // Takes what a hook hears, on whatever thread runs the node.
  void at_node(size_t position, const variable_list& gradients) {
    if (error_ || (position != 0 && !is_watched_pass())) return;
    try {
      if (position == 0) {
        if (started_) is_closed_ = true;  // a second backward over a retained graph
        if (is_closed_) return;
        started_ = true;
        remember_pass();
        start(gradients);
      }
      if (!started_ || is_closed_ || !pass_.asks_rows() || pass_.batch().needs_own_pass()) return;
      // Rules read shapes through the edges: put them back while they look.
      restore_edges(position);
      if (handed_over_) handed_over_->visit(position, gradients);
      if (!runs_own_pass_) pass_.visit(position, gradients);
      if (reuses_) cut_edges(position);
    } catch (...) {
      error_ = std::current_exception();
    }
  }

  // Takes the whole gradient of a parameter, on its way to `.grad`.
  void at_leaf(size_t parameter, const variable_list& gradients) {
    if (error_ || is_closed_ || !is_watched_pass()) return;
    try {
      const Tensor& tensor = pass_.batch().parameters[parameter].tensor;
      // A parameter that is gathered for a pass loses its `.grad` within it.
      const bool becomes_grad = !is_transient(tensor) &&
                                compat::becomes_grad(*compat::ag::impl::grad_accumulator(tensor));
      pass_.arrive(parameter, gradients[0], becomes_grad);
    } catch (...) {
      error_ = std::current_exception();
    }
  }

  Gradients finish() {
    if (error_) std::rethrow_exception(error_);
    TORCH_CHECK_NOT_IMPLEMENTED(started_ || !is_left_out_,
                                "watch: compiled autograd ran the backward pass, which leaves out "
                                "what listens to it; call backward() outside of it at watched "
                                "steps");
    TORCH_CHECK(started_,
                "watch: no backward pass went through the losses before finish; call "
                "backward() on a loss computed from them first");
    return pass_.finish();
  }

  bool has_run() const { return started_; }
  void leave_out() { is_left_out_ = true; }
  bool was_left_out() const { return is_left_out_; }
  void attach(const std::shared_ptr<State>& self);
  void detach();

 private:
  void start(const variable_list& gradients) {
    const size_t output = pass_.capture().root_output;
    TORCH_CHECK(gradients[output].defined(),
                "watch: no gradient reached the losses; call backward() on a loss computed from "
                "them");
    pass_.set_arrival_weights(gradients[output]);
    if (!pass_.asks_rows()) return;
    if (pass_.batch().needs_own_pass()) {
      apart_from_pass(pass_.batch().losses.device(), [&] { pass_.run(); });
      return;
    }
    const Foreign foreign = find_foreign(pass_.capture(),
                                         *compat::nodes_of_pass(),
                                         [](const FunctionPreHook& hook) { return is_ours(hook); });
    pass_.set_elsewhere(foreign.elsewhere);
    if (!foreign.reason.empty()) {
      run_own_pass(foreign.reason, "; to spare it, watch the sum of the losses, or each of them");
      return;
    }
    if (compat::is_partial_pass()) {
      run_own_pass("the backward pass is for some inputs alone", "");
      return;
    }
    const int64_t lost = pass_.unusable_weights(gradients[output]);
    if (lost > 0) {
      run_own_pass(std::to_string(lost) + " of " + std::to_string(pass_.capture().N) +
                       " samples have no weight in the reduced loss",
                   "");
      return;
    }
    if (pass_.has_slow()) {
      apart_from_pass(pass_.batch().losses.device(), [&] { pass_.run_slow(); });
    }
    pass_.set_weights(gradients[output]);
  }

  void run_own_pass(const std::string& reason, const std::string& advice) {
    runs_own_pass_ = true;
    pass_.remark(reason + ": the rows are those of the losses, from a pass of its own" + advice);
    // What PyTorch was told to skip still has to reach `.grad`.
    restore_all_edges();
    if (reuses_ && !compat::is_partial_pass()) handed_over_ = pass_.hand_over_apart();
    apart_from_pass(pass_.batch().losses.device(), [&] { pass_.run(); });
    if (reuses_) cut_all_edges();
  }

  // Returns true if the pass that calls goes through the losses. All nodes below them wait for them
  // in it. The nodes of a pass leave out the one it starts from.
  bool is_watched_pass() const {
    const auto* nodes = compat::nodes_of_pass();
    return nodes && (nodes == current_ || nodes->count(pass_.capture().nodes[0].node) > 0);
  }

  // Remembers the pass until it ends, since the next one may be at the same address.
  void remember_pass() {
    current_ = compat::nodes_of_pass();
    compat::at_end_of_pass([self = weak_from_this()] {
      if (const auto state = self.lock()) state->end_pass();
    });
  }

  void end_pass() {
    current_ = nullptr;
    if (error_) return;
    try {
      pass_.end_pass();
    } catch (...) {
      error_ = std::current_exception();
    }
  }

  static bool is_ours(const FunctionPreHook& hook);

  void listen(const compat::NodePtr& node, std::unique_ptr<FunctionPreHook> hook);
  void listen_at_leaves(const std::shared_ptr<State>& self);

  // These cut and restore edges for reuse_gradients: without them PyTorch does not compute what the
  // pass hands over.
  void cut_edges(size_t position);
  void restore_edges(size_t position);
  void cut_all_edges();
  void restore_all_edges();

  struct Cut {
    compat::WeakNodePtr node;
    size_t index;
    Edge edge;
  };

  FirstOrderPass pass_;
  bool needs_arrivals_;
  bool reuses_;
  std::vector<compat::NodePtr> leaves_;  // a leaf nobody uses yet lives as long as it is held
  std::vector<std::pair<compat::WeakNodePtr, const FunctionPreHook*>> hooks_;
  std::unordered_map<size_t, std::vector<Cut>> cuts_;
  std::unique_ptr<FirstOrderPass>
      handed_over_;  // only for `.grad`, if the rows come from elsewhere
  const std::unordered_set<Node*>* current_ = nullptr;  // nodes of the watched pass while it runs
  bool runs_own_pass_ = false;
  bool started_ = false;
  bool is_closed_ = false;
  bool is_left_out_ = false;  // by compiled autograd
  std::exception_ptr error_;
};

namespace {

// Tells the state's `heard` of the gradients at node or parameter `index`.
class WatchHook final : public compat::LeftOutHook {
 public:
  using Heard = void (Watch::State::*)(size_t index, const variable_list& gradients);

  WatchHook(std::weak_ptr<Watch::State> state, Heard heard, size_t index)
      : state_(std::move(state)), heard_(heard), index_(index) {}

  variable_list operator()(const variable_list& gradients) override {
    if (const auto state = state_.lock()) ((*state).*heard_)(index_, gradients);
    return gradients;
  }

 protected:
  void left_out() const override {
    if (const auto state = state_.lock()) state->leave_out();
  }

 private:
  std::weak_ptr<Watch::State> state_;
  Heard heard_;
  size_t index_;
};

}  // namespace

bool Watch::State::is_ours(const FunctionPreHook& hook) {
  // Listeners change no gradient either.
  return dynamic_cast<const compat::LeftOutHook*>(&hook) != nullptr;
}

void Watch::State::attach(const std::shared_ptr<State>& self) {
  const Capture& capture = pass_.capture();
  for (size_t k = 0; k < capture.nodes.size(); ++k) {
    if (k != 0 && !pass_.has_uses(k)) continue;
    listen(compat::pointer_to(*capture.nodes[k].node),
           std::make_unique<WatchHook>(self, &State::at_node, k));
  }
  if (reuses_) cut_all_edges();
  if (needs_arrivals_) listen_at_leaves(self);
}

void Watch::State::listen(const compat::NodePtr& node, std::unique_ptr<FunctionPreHook> hook) {
  hooks_.emplace_back(node, hook.get());
  node->add_pre_hook(std::move(hook));
}

void Watch::State::listen_at_leaves(const std::shared_ptr<State>& self) {
  const Parameters& parameters = pass_.batch().parameters;
  for (size_t p = 0; p < parameters.size(); ++p) {
    const Tensor& tensor = parameters[p].tensor;
    if (!tensor.requires_grad()) continue;
    // With its edges cut the parameter is told of the losses' gradient by the pass.
    const CapturedParameter& captured = pass_.capture().parameters[p];
    if (reuses_ && captured.leaf >= 0 && !captured.is_slow) continue;
    leaves_.push_back(compat::ag::impl::grad_accumulator(tensor));
    listen(leaves_.back(), std::make_unique<WatchHook>(self, &State::at_leaf, p));
  }
}

void Watch::State::cut_edges(size_t position) {
  const CapturedNode& captured = pass_.capture().nodes[position];
  for (size_t e = 0; e < captured.edges.size(); ++e) {
    if (captured.edges[e] != EdgeKind::kUse) continue;
    Edge& edge = captured.node->next_edges()[e];
    const compat::WeakNodePtr node(compat::pointer_to(*captured.node));
    cuts_[position].push_back({node, e, std::exchange(edge, Edge())});
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

void Watch::State::cut_all_edges() {
  for (size_t k = 0; k < pass_.capture().nodes.size(); ++k) {
    if (pass_.has_uses(k)) cut_edges(k);
  }
}

void Watch::State::restore_all_edges() {
  while (!cuts_.empty()) restore_edges(cuts_.begin()->first);
}

void Watch::State::detach() {
  // Inside a backward pass (a hook of the caller's) the engine is going through these very lists.
  // The hooks stay with the graph then, and are deaf: they do not hold the state.
  if (compat::nodes_of_pass() != nullptr) hooks_.clear();
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
  leaves_.clear();
  restore_all_edges();
}

namespace {

// Returns true if edges to what all samples share can be cut, which takes rows for all of it.
bool can_cut_uses(const Capture& capture) {
  for (const CapturedNode& captured : capture.nodes) {
    for (size_t e = 0; e < captured.edges.size(); ++e) {
      if (captured.edges[e] != EdgeKind::kUse) continue;
      if (capture.nodes[captured.next[e]].leads_to_slow) return false;
      if (compat::has_fixed_edges(*captured.node)) return false;
    }
  }
  return true;
}

}  // namespace

Watch::Watch(const Batch& batch, Needs what, const GradientOptions& options) {
  CapturedBatch captured(batch);
  TORCH_CHECK_VALUE(!options.reuse_gradients || captured.samples.empty(),
                    "watch: reuse_gradients needs all samples but options.samples chooses ",
                    captured.samples.size(),
                    "; drop one of the two");
  if (asks_rows(what, options)) {
    check_scalar(*captured.capture);
    throw_refusals(*captured.capture, captured.batch_norm);
  }
  GradientOptions own = options;
  if (captured.needs_own_pass() || !can_cut_uses(*captured.capture)) own.reuse_gradients = false;
  state_ = std::make_shared<State>(std::move(captured), what, own);
  state_->attach(state_);
}

Watch::Watch(const Tensor& losses,
             const Parameters& parameters,
             Needs what,
             const GradientOptions& options)
    : Watch(Batch(losses, parameters), what, options) {}

Watch::~Watch() {
  if (state_) state_->detach();
}

Watch::Watch(Watch&&) noexcept = default;

Watch& Watch::operator=(Watch&& other) noexcept {
  if (this == &other) return *this;
  if (state_) state_->detach();
  state_ = std::move(other.state_);
  return *this;
}

bool Watch::has_run() const { return state_ && state_->has_run(); }
bool Watch::was_left_out() const { return state_ && state_->was_left_out(); }

Gradients Watch::finish() {
  TORCH_CHECK(state_,
              "watch: there is nothing to finish: finish was called before, or the watch was moved "
              "to another; keep the result, or finish the other");
  const std::shared_ptr<State> state = std::move(state_);
  state->detach();
  return state->finish();
}

}  // namespace flightdeck

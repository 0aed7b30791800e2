// SPDX-License-Identifier: MIT
// How a router deals tokens to experts: load, experts that get nothing, how sure the router is.
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include <ATen/ATen.h>

#include "flightdeck/quantity.h"
#include "quantities/graph_values.h"
#include "rules/node_facts.h"

namespace flightdeck::quantities {
namespace {

struct Router {
  std::string layer;
  Tensor counts;     // [1, E], choices
  Tensor entropies;  // [1, 2], their sum and number; [0, 2] if they are not known
};

// Returns what a softmax over the experts below a choice has given, or the scores' own softmax
// above it.
Tensor probabilities_below(const Capture& capture, size_t choice, int64_t experts) {
  const int64_t below = below_views(capture, choice, 0);
  const auto softmax = below < 0 ? std::nullopt : kept_softmax(capture.view(below));
  if (!softmax) return {};
  Tensor result = capture.view(below).unpack(*softmax->result);
  if (!result.defined() || result.size(-1) != experts) return {};
  result = result.to(at::kDouble);
  return softmax->is_logarithm ? result.exp() : result;
}

Tensor entropy_of(const Tensor& p) {  // [..., E] -> [...]
  return -(p * at::where(p > 0, p, at::ones_like(p)).log()).sum(-1);
}

// Returns the sum of the entropies and how many they are.
Tensor sum_entropies(const Tensor& probabilities, const at::TensorOptions& options) {
  if (!probabilities.defined()) return at::zeros({0, 2}, options);
  const Tensor each = entropy_of(probabilities);
  const Tensor sum = each.sum();
  const Tensor count = at::full_like(sum, static_cast<double>(each.numel()));
  return at::stack({sum, count}).unsqueeze(0);
}

std::vector<Router> read_routers(const GraphView& graph, int64_t most) {
  const Capture& capture = graph.capture();
  const NodeLayers layers = find_layers(capture);
  std::vector<Router> routers;
  std::map<std::string, int> used;
  for (size_t k = capture.nodes.size(); k-- > 0;) {  // inputs first
    const CapturedNode& node = capture.nodes[k];
    if (node.side == Side::kNone) continue;
    const NodeView view = capture.view(k);
    const auto choice = kept_choice(view);
    if (!choice) continue;
    const Shape scores = view.input_shape(0);
    if (choice->dim != static_cast<int64_t>(scores.size()) - 1) continue;
    const int64_t experts = scores.back();
    if (experts < 2 || experts > most) continue;
    const Tensor probabilities = probabilities_below(capture, k, experts);
    // A maximum may be pooling, or a softmax by hand; that of probabilities is a router of one
    // expert.
    if (choice->is_of_maximum && !probabilities.defined()) continue;
    const Tensor chosen = view.unpack(*choice->indices);
    if (!chosen.defined() || chosen.numel() == 0) continue;
    const Tensor counts =
        at::zeros({experts}, chosen.options().dtype(at::kDouble))
            .index_add_(0,
                        chosen.flatten(),
                        at::ones({chosen.numel()}, chosen.options().dtype(at::kDouble)));
    std::string layer = layers.name(capture, graph.step().parameters(), k);
    const int count = ++used[layer];
    if (count > 1) layer += "#" + std::to_string(count);
    routers.push_back({layer, counts.unsqueeze(0), sum_entropies(probabilities, counts.options())});
  }
  return routers;
}

Value describe_routers(const std::vector<Router>& routers, const StepView& step) {
  if (routers.empty())
    return Value::none("no choice of experts (top-k, or the largest probability) in the graph");
  std::vector<Tensor> imbalances, dead, load_entropies, router_entropies;
  std::vector<Tensor> loads;
  for (size_t r = 0; r < routers.size(); ++r) {
    const Tensor counts = step.shared()[2 * r].sum(0);
    loads.push_back(counts / counts.sum());
    const Tensor& load = loads.back();
    const auto E = static_cast<double>(load.numel());
    imbalances.push_back(load.amax() * E);
    dead.push_back((load == 0).sum().to(at::kDouble));
    load_entropies.push_back(entropy_of(load) / std::log(E));
    const Tensor& entropies = step.shared()[2 * r + 1];
    if (entropies.size(0) > 0) {
      const Tensor sums = entropies.sum(0);
      router_entropies.push_back(sums[0] / sums[1] / std::log(E));
    }
  }
  Value value(at::stack(imbalances).amax());
  value.with("dead", at::stack(dead).sum());
  value.with("load_entropy", at::stack(load_entropies).amin());
  if (!router_entropies.empty()) {
    value.with("router_entropy", at::stack(router_entropies).mean());
  }
  for (size_t r = 0; r < routers.size(); ++r) {
    value.with("imbalance:" + routers[r].layer, imbalances[r]);
    value.with("dead:" + routers[r].layer, dead[r]);
    value.with_list("load:" + routers[r].layer, loads[r]);
  }
  return value;
}

}  // namespace

Quantity experts(Settings& settings) {
  const int64_t most =
      settings.integer("most", 512, "alternatives of a top-k that still count as experts", 2);
  return Quantity("experts")
      .summary("Largest load of an expert over an equal share; dead experts, entropies as fields")
      .reference(
          "of choices by topk, or by max of a softmax, that the graph has kept; beyond the papers")
      .make([most] {
        const auto routers = std::make_shared<std::vector<Router>>();
        Quantity::Functions functions;
        functions.look = [routers, most](const GraphView& graph) {
          *routers = read_routers(graph, most);
        };
        functions.share = [routers](const StepView&) {
          std::vector<Tensor> shared;
          for (const Router& router : *routers) {
            shared.push_back(router.counts);
            shared.push_back(router.entropies);
          }
          return shared;
        };
        functions.compute = [routers](const StepView& step) {
          return describe_routers(std::exchange(*routers, {}), step);
        };
        return functions;
      });
}

}  // namespace flightdeck::quantities

// SPDX-License-Identifier: MIT
// How a router deals tokens to experts: load, experts that get nothing, how sure the router is.
#include <cmath>
#include <map>

#include <ATen/ATen.h>

#include "flightdeck/quantity.h"
#include "quantities/graph_values.h"
#include "rules/kept_values.h"

namespace flightdeck::quantities {
namespace {

struct Router {
  std::string layer;
  Tensor load;           // [E], shares
  Tensor probabilities;  // [..., E]; may be undefined
};

// What a softmax over the experts below a choice has given, or the scores' own softmax above it.
Tensor probabilities_below(const Capture& capture, size_t choice, int64_t experts) {
  const int64_t below = below_views(capture, choice, 0);
  compat::SavedSoftmax softmax;
  if (below < 0 || !compat::read_softmax(*capture.nodes[below].node, softmax)) return {};
  Tensor result = capture.view(below).unpack(*softmax.result);
  if (!result.defined() || result.size(-1) != experts) return {};
  result = result.to(at::kDouble);
  return op_name(capture, below) == "log_softmax" ? result.exp() : result;
}

std::vector<Router> read_routers(const GraphView& graph, int64_t most) {
  const Capture& capture = graph.capture();
  const NodeLayers layers = find_layers(capture);
  std::vector<Router> routers;
  std::map<std::string, int> used;
  for (size_t k = capture.nodes.size(); k-- > 0;) {  // inputs first
    const CapturedNode& node = capture.nodes[k];
    const auto* choice = dynamic_cast<const compat::nodes::TopkBackward0*>(node.node);
    if (choice == nullptr || node.side == Side::kNone) continue;
    const NodeView view = capture.view(k);
    if (!view.has_input(0)) continue;
    const Shape scores = view.input_shape(0);
    const auto rank = static_cast<int64_t>(scores.size());
    const int64_t dim = compat::to_int(choice->dim);
    if ((dim < 0 ? dim + rank : dim) != rank - 1) continue;
    const int64_t experts = scores.back();
    const Tensor chosen = view.unpack(choice->indices_);
    if (experts < 2 || experts > most || !chosen.defined() || chosen.numel() == 0) continue;
    const Tensor counts =
        at::zeros({experts}, chosen.options().dtype(at::kDouble))
            .index_add_(0,
                        chosen.flatten(),
                        at::ones({chosen.numel()}, chosen.options().dtype(at::kDouble)));
    std::string layer = layers.name(capture, graph.step().parameters(), k);
    const int count = ++used[layer];
    if (count > 1) layer += "#" + std::to_string(count);
    routers.push_back({layer,
                       counts / static_cast<double>(chosen.numel()),
                       probabilities_below(capture, k, experts)});
  }
  return routers;
}

Tensor entropy_of(const Tensor& p) {  // [..., E] -> [...]
  return -(p * at::where(p > 0, p, at::ones_like(p)).log()).sum(-1);
}

Value describe_routers(const std::vector<Router>& routers) {
  if (routers.empty()) return Value::none("no choice of experts (top-k) in the graph");
  std::vector<Tensor> imbalances, dead, load_entropies, router_entropies;
  for (const Router& router : routers) {
    const auto E = static_cast<double>(router.load.numel());
    imbalances.push_back(router.load.amax() * E);
    dead.push_back((router.load == 0).sum().to(at::kDouble));
    load_entropies.push_back(entropy_of(router.load) / std::log(E));
    if (router.probabilities.defined()) {
      router_entropies.push_back(entropy_of(router.probabilities).mean() / std::log(E));
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
    value.with_list("load:" + routers[r].layer, routers[r].load);
  }
  return value;
}

}  // namespace

Quantity experts(Settings& settings) {
  const int64_t most =
      settings.integer("most", 512, "alternatives of a top-k that still count as experts", 2);
  return Quantity("experts")
      .summary("Largest load of an expert over an equal share; dead experts, entropies as fields")
      .reference("of the top-k choices that the graph has kept; beyond the papers")
      .make([most] {
        const auto value = std::make_shared<Value>();
        Quantity::Functions functions;
        functions.look = [value, most](const GraphView& graph) {
          *value = describe_routers(read_routers(graph, most));
        };
        functions.compute = [value](const StepView&) { return *value; };
        return functions;
      });
}

}  // namespace flightdeck::quantities

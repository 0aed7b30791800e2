// SPDX-License-Identifier: MIT
// Samples that pull against the others of their class: a gradient that points away from the mean of
// its class is how a wrong label looks.
#include <algorithm>
#include <utility>

#include <ATen/ATen.h>

#include "flightdeck/quantity.h"
#include "quantities/graph_values.h"

namespace flightdeck::quantities {
namespace {

// Returns cos(g_n, mean of g_m over the other samples m of its class) for every sample, [N]; NaN
// for the only one of a class. gram is [N, N], labels [N].
Tensor class_cosines(const Tensor& gram, const Tensor& labels) {
  const int64_t N = gram.size(0);
  const Tensor others = (labels.unsqueeze(0) == labels.unsqueeze(1))
                            .logical_and(at::eye(N, labels.options()).to(at::kBool).logical_not())
                            .to(at::kDouble);
  // The mean's length divides out: sums will do.
  const Tensor with_sums = others.mm(gram);  // <sum of the others of n, g_m>
  const Tensor dots = with_sums.diagonal();
  const Tensor squares = (with_sums * others).sum(1);
  return dots / (squares * gram.diagonal()).sqrt();
}

}  // namespace

Quantity label_conflicts(Settings& settings) {
  const int64_t count = settings.integer("count", 5, "how many samples are listed", 1);
  return Quantity("label_conflicts")
      .summary("Share of samples whose gradient points against the rest of their class")
      .reference("cos(g_n, mean of the others of its class) < 0; beyond the papers")
      .needs(Need::kGram)
      .cost(Cost::kFirstOrder)
      .make([count] {
        const auto targets = std::make_shared<Tensor>();
        Quantity::Functions functions;
        functions.look = [targets](const GraphView& graph) {
          *targets = graph.step().labels();
          if (!targets->defined()) *targets = graph_targets(graph.capture()).targets;
        };
        functions.share = [targets](const StepView&) -> std::vector<Tensor> {
          if (!targets->defined()) return {at::zeros({0}, at::kLong)};
          return {targets->flatten()};
        };
        functions.compute = [count](const StepView& step) {
          const int64_t N = step.batch_size();
          const Tensor labels = step.shared()[0];
          if (labels.numel() != N) {
            return Value::none("needs one class label per sample; tell watch the labels");
          }
          const Tensor gram = step.gradients().total.gram.to(at::kDouble);
          const Tensor cosines = class_cosines(gram, labels.to(gram.device()));
          const Tensor is_known = at::isfinite(cosines);
          Value value((cosines < 0).sum().to(at::kDouble) / is_known.sum());
          const Tensor ranked =
              at::where(is_known, cosines, at::full_like(cosines, 2.0));  // behind all others
          const auto [sorted, order] = ranked.sort();
          const int64_t listed = std::min(count, N);
          const Tensor places = order.slice(0, 0, listed);
          value.with("smallest", sorted[0]);
          value.with_list("samples", places.to(at::kDouble));
          value.with_list("cosines", sorted.slice(0, 0, listed));
          if (step.sample_ids().defined()) {
            const Tensor ids = step.sample_ids().to(places.device());
            value.with_list("ids", ids.index_select(0, places).to(at::kDouble));
          }
          return value;
        };
        return functions;
      });
}

}  // namespace flightdeck::quantities

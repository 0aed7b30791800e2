// SPDX-License-Identifier: MIT
#include "passes/capture.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "base/words.h"
#include "passes/graph_reader.h"

namespace flightdeck {
namespace {

std::atomic<int64_t> graphs_read{0};

void check_input(const Tensor& losses,
                 const Parameters& parameters,
                 const CaptureOptions& options) {
  TORCH_CHECK_VALUE(losses.defined(),
                    "gradients: losses is an undefined tensor; pass the "
                    "individual losses [N]");
  const bool has_each = losses.dim() == 1 && losses.size(0) == options.batch_size;
  if (options.batch_size > 0 && !has_each) {
    TORCH_CHECK_VALUE(losses.numel() == 1,
                      "gradients: batch_size is ",
                      options.batch_size,
                      " but losses has shape ",
                      losses.sizes(),
                      "; give batch_size only with a scalar loss");
  } else {
    TORCH_CHECK_VALUE(
        losses.dim() == 1,
        "gradients: losses has ",
        losses.dim(),
        " dimensions (shape ",
        losses.sizes(),
        ") but must have 1, one loss per sample [N]; reduce what belongs to one sample "
        "by mean or sum, or give a scalar loss and options.batch_size");
    TORCH_CHECK_VALUE(losses.numel() > 0, "gradients: losses is empty; pass at least one sample");
  }
  TORCH_CHECK_VALUE(losses.grad_fn() != nullptr,
                    "gradients: losses has no graph (requires_grad is ",
                    losses.requires_grad() ? "true" : "false",
                    "); compute them from parameters that require gradients, outside no_grad");
  TORCH_CHECK_VALUE(parameters.size() > 0,
                    "gradients: no parameters given (0); pass "
                    "model->named_parameters()");
  for (const auto& [name, tensor] : parameters) {
    TORCH_CHECK_VALUE(
        tensor.defined(), "gradients: parameter '", name, "' is an undefined tensor; leave it out");
    TORCH_CHECK_VALUE(tensor.is_leaf(),
                      "gradients: parameter '",
                      name,
                      "' is not a leaf of the graph; pass the tensor it was computed from");
    TORCH_CHECK_NOT_IMPLEMENTED(!tensor.is_complex(),
                                "gradients: parameter '",
                                name,
                                "' has type ",
                                tensor.scalar_type(),
                                " but rows are real; keep a real parameter [..., 2] in its place "
                                "and call view_as_complex on it in the model");
  }
}

}  // namespace

Capture capture_graph(const Tensor& losses,
                      const Parameters& parameters,
                      const CaptureOptions& options) {
  check_input(losses, parameters, options);
  ++graphs_read;
  Topology topology = read_topology(losses.grad_fn().get());
  GraphReader reader(losses, parameters, options, topology, {});
  Capture capture = reader.run();
  if (options.shared_terms == SharedTerms::kLeaveOut) {
    const GraphReader::Edges terms = reader.shared_terms(capture);
    if (!terms.empty()) {
      capture = GraphReader(losses, parameters, options, topology, terms).run();
    }
  }
  capture.position = std::move(topology.position);
  return capture;
}

int64_t graphs_captured() { return graphs_read; }

bool Capture::is_shared_term(size_t k, size_t edge) const {
  return std::any_of(shared_terms.begin(), shared_terms.end(), [&](const SharedTerm& term) {
    return term.position == k && term.edge == edge;
  });
}

std::vector<std::string> Capture::shared_term_names() const {
  std::vector<std::string> names;
  for (const SharedTerm& term : shared_terms) {
    add_once(names, term.op);
  }
  return names;
}

void check_samples(const Capture& capture,
                   const std::vector<int64_t>& samples,
                   const char* caller,
                   const char* field) {
  for (int64_t n : samples) {
    TORCH_CHECK_INDEX(n >= 0 && n < capture.N,
                      caller,
                      ": options.",
                      field,
                      " contains ",
                      n,
                      " but the batch of ",
                      capture.N,
                      " has samples 0 to ",
                      capture.N - 1,
                      "; pass indices inside the batch");
  }
}

void check_scalar(const Capture& capture) {
  TORCH_CHECK_VALUE(capture.scalar_error.empty(), capture.scalar_error);
}

void check_visible(const Capture& capture) {
  TORCH_CHECK_NOT_IMPLEMENTED(capture.hidden_graph.empty(), "gradients: ", capture.hidden_graph);
}

std::string refusal_of(const Capture& capture, size_t parameter, BatchNormPolicy policy) {
  const CapturedParameter& captured = capture.parameters[parameter];
  if (!capture.hidden_graph.empty()) return "gradients: " + capture.hidden_graph;
  if (policy != BatchNormPolicy::kRefuse || capture.coupled_layers.empty() || captured.leaf < 0) {
    return captured.refusal;
  }
  const CoupledLayer& coupled = capture.coupled_layers.back();
  return "gradients: training-mode batch norm " + coupled.layer + " (" + coupled.op +
         ") couples the samples, so individual gradients have no one meaning; put it in eval "
         "mode, or set options.batch_norm to kConstantStatistics or kSplitGradient";
}

void throw_refusals(const Capture& capture, BatchNormPolicy policy) {
  check_visible(capture);
  for (size_t p = 0; p < capture.parameters.size(); ++p) {
    const std::string refusal = refusal_of(capture, p, policy);
    TORCH_CHECK_VALUE(refusal.empty(), refusal);
  }
}

std::vector<std::string> row_remarks(const Capture& capture, BatchNormPolicy policy) {
  std::vector<std::string> remarks;
  for (const CoupledLayer& coupled : capture.coupled_layers) {
    if (policy == BatchNormPolicy::kSplitGradient) {
      add_once(remarks,
               coupled.op +
                   " couples the samples (kSplitGradient): a row is the part of the "
                   "gradient that flows through its sample, not that of losses[n]");
    } else if (policy == BatchNormPolicy::kConstantStatistics) {
      add_once(remarks,
               coupled.op +
                   " couples the samples (kConstantStatistics): rows are taken with the "
                   "batch's mean and variance held constant");
    }
  }
  remarks.insert(remarks.end(), capture.row_remarks.begin(), capture.row_remarks.end());
  return remarks;
}

}  // namespace flightdeck

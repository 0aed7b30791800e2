// SPDX-License-Identifier: MIT
#include "curvature/columns_pass.h"

#include <algorithm>
#include <memory>
#include <unordered_map>

#include <ATen/ATen.h>

#include "rows/dense.h"

namespace flightdeck {
namespace {

// Sets all samples but one to zero in every column.
std::vector<Seed> only_sample(const std::vector<Seed>& seeds, int64_t n) {
  std::vector<Seed> chosen = seeds;
  for (Seed& seed : chosen) {
    seed.stack = flightdeck::only_sample(seed.stack, seed.layout.at_dim(seed.layout.dim + 1), n);
  }
  return chosen;
}

}  // namespace

ColumnsPass::ColumnsPass(Linearisation& linearisation,
                         const Parameters& parameters,
                         std::vector<int64_t> samples,
                         Coverage* coverage)
    : linearisation_(linearisation),
      capture_(linearisation.capture()),
      parameters_(parameters),
      samples_(std::move(samples)),
      coverage_(coverage) {}

int64_t ColumnsPass::column_bytes() const {
  int64_t largest = 1;
  for (const CapturedNode& captured : capture_.nodes) {
    if (captured.side != Side::kBatch && captured.side != Side::kSlow) continue;
    for (size_t output = 0; output < captured.node->num_inputs(); ++output) {
      const auto item = captured.node->input_metadata(output).dtype().itemsize();
      largest = std::max<int64_t>(
          largest, product(compat::shape_of(*captured.node, output)) * static_cast<int64_t>(item));
    }
  }
  return largest;
}

int64_t ColumnsPass::columns_at_once(int64_t bytes) const {
  return std::max<int64_t>(1, bytes / column_bytes());
}

void ColumnsPass::run(const std::vector<Seed>& seeds,
                      const Consume& consume,
                      const std::vector<bool>& wanted) {
  if (seeds.empty()) return;
  const auto K = static_cast<size_t>(seeds[0].stack.size(0));
  std::vector<std::vector<Rows>> pending(parameters_.size());
  const auto complete = [&](size_t parameter, Rows rows) {
    if (rows.empty() || (!wanted.empty() && !wanted[parameter])) return;
    pending[parameter].push_back(std::move(rows));
    if (pending[parameter].size() < K) return;
    consume(parameter, pending[parameter]);
    pending[parameter] = {};
  };
  std::vector<std::unique_ptr<RowsCollector>> collectors;
  for (size_t k = 0; k < K; ++k) {
    collectors.push_back(std::make_unique<RowsCollector>(
        capture_, samples_, k == 0 ? coverage_ : nullptr, complete));
  }
  walk_columns(
      linearisation_,
      seeds,
      [](const CapturedNode& captured, size_t e) { return captured.edges[e] == EdgeKind::kBatch; },
      [&](size_t position, const variable_list& stacks) {
        if (!collectors[0]->has_uses(position)) return;
        const std::vector<variable_list> columns = split_columns(stacks);
        for (size_t k = 0; k < K; ++k) collectors[k]->visit(position, columns[k]);
      });
  for (const auto& collector : collectors) collector->finish();
  run_slow(seeds, consume, wanted);
  coverage_ = nullptr;
}

void ColumnsPass::run_slow(const std::vector<Seed>& seeds,
                           const Consume& consume,
                           const std::vector<bool>& wanted) {
  std::unordered_map<int64_t, std::vector<Tensor>> rows;  // of each parameter, per sample
  for (size_t p = 0; p < parameters_.size(); ++p) {
    const bool is_wanted = wanted.empty() || wanted[p];
    if (capture_.parameters[p].is_slow && is_wanted) rows[static_cast<int64_t>(p)] = {};
  }
  if (rows.empty()) return;
  const int64_t K = seeds[0].stack.size(0);
  const int64_t count = samples_.empty() ? capture_.N : static_cast<int64_t>(samples_.size());
  for (int64_t s = 0; s < count; ++s) {
    const int64_t n = samples_.empty() ? s : samples_[s];
    walk_columns(
        linearisation_,
        capture_.N == 1 ? seeds : only_sample(seeds, n),
        [this](const CapturedNode& captured, size_t e) {
          return capture_.nodes[captured.next[e]].leads_to_slow;
        },
        [&](size_t position, const variable_list& stacks) {
          const auto found = rows.find(capture_.nodes[position].parameter);
          if (found != rows.end()) found->second.push_back(stacks[0]);
        });
    for (auto& [p, list] : rows) {
      if (static_cast<int64_t>(list.size()) > s) continue;
      Shape shape = parameters_[p].tensor.sizes().vec();
      shape.insert(shape.begin(), K);
      list.push_back(at::zeros(shape, parameters_[p].tensor.options()));
    }
  }
  for (auto& [p, list] : rows) {
    const Tensor all = at::stack(list, 1);  // [K, S, *shape]
    std::vector<Rows> columns;
    for (int64_t k = 0; k < K; ++k) {
      columns.emplace_back(std::make_shared<DenseForm>(all.select(0, k), "dense"));
    }
    if (coverage_) {
      coverage_->parameters[p].uses.push_back(
          {"(whole graph)",
           "dense",
           capture_.N == 1 ? "the columns of the one sample" : "one backward pass per sample"});
    }
    consume(static_cast<size_t>(p), columns);
  }
}

}  // namespace flightdeck

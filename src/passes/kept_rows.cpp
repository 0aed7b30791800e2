// SPDX-License-Identifier: MIT
#include "passes/kept_rows.h"

#include <algorithm>

#include <ATen/ATen.h>

#include "graph/torch_compat.h"
#include "rows/dense.h"
#include "rows/together.h"

namespace flightdeck {
namespace {

std::vector<uint32_t> versions_of(const Rows& rows) {
  std::vector<uint32_t> versions;
  for (const Rows::Term& term : rows.terms()) {
    for (const Tensor& factor : term.form->factors()) {
      versions.push_back(factor.is_inference() ? 0 : factor._version());
    }
  }
  return versions;
}

}  // namespace

FactoredRows::FactoredRows(Parameters parameters,
                           int64_t count,
                           int64_t scratch_bytes,
                           std::vector<Tensor> leaves)
    : parameters_(std::move(parameters)),
      count_(count),
      scratch_bytes_(scratch_bytes),
      leaves_(std::move(leaves)),
      kept_(parameters_.size()) {}

void FactoredRows::keep(size_t parameter,
                        const Rows& rows,
                        const Tensor& factor,
                        const Tensor& mean_dots) {
  Rows own = rows;
  for (Rows::Term& term : own.terms()) {
    std::vector<Tensor> factors = term.form->factors();
    bool copied = false;
    for (Tensor& tensor : factors) {
      const bool is_shared = std::any_of(leaves_.begin(), leaves_.end(), [&](const Tensor& leaf) {
        return tensor.is_alias_of(leaf);
      });
      if (!is_shared) continue;
      tensor = tensor.clone();
      copied = true;
    }
    if (copied) term.form = term.form->with_factors(std::move(factors));
  }
  std::vector<uint32_t> versions = versions_of(own);
  kept_[parameter] = {std::move(own), factor, mean_dots, std::move(versions)};
}

bool FactoredRows::wants_written(const Rows& rows, const Questions& questions) const {
  if (!reads_rows(asked(questions))) return false;
  if (rows.terms().size() != 1 || !rows.terms()[0].placement.is_identity()) return false;
  const Form& form = *rows.terms()[0].form;
  return form.is_cheaper_written() && !runs_behind(form.options().device()) &&
         rows_per_piece(form.shape(), form.options(), scratch_bytes_) >= form.N();
}

void FactoredRows::keep_written(size_t parameter, const Tensor& dense, const Tensor& factor) {
  const Tensor memory = dense.movedim(1, -1);
  Rows rows(std::make_shared<DenseForm>(memory, "dense"));
  Shape channels_last;
  for (int64_t dim = 1; dim + 1 < dense.dim(); ++dim) channels_last.push_back(dim);
  channels_last.push_back(0);
  rows.terms()[0].placement.undo_permute(channels_last);
  std::vector<uint32_t> versions = versions_of(rows);
  kept_[parameter] = {std::move(rows), factor, Tensor(), std::move(versions)};
}

void FactoredRows::check_unmodified(size_t parameter) const {
  const Kept& kept = kept_[parameter];
  TORCH_CHECK(versions_of(kept.rows) == kept.versions,
              "kept rows: an input or activation behind '",
              parameters_[parameter].name,
              "' was modified in place after the backward pass; copy it first, or ask for dots "
              "before the change");
}

// Along the mean of the rows themselves the products are known already.
Tensor FactoredRows::dots_of(size_t parameter, const Questions& questions) const {
  const Kept& kept = kept_[parameter];
  if (!questions.along.is_known() || !kept.mean_dots.defined()) {
    return kept.rows.answer(questions).dots;
  }
  return kept.mean_dots.mul(questions.along.multiple)
      .to(questions.along.a.scalar_type())
      .unsqueeze(1);
}

std::shared_ptr<const KnownDirections> FactoredRows::know(const std::vector<Tensor>& directions,
                                                          std::vector<bool>& is_tried) const {
  const compat::PassGuard guard;
  is_tried.resize(kept_.size(), true);
  KnownDirections known;
  known.of_parameter.resize(kept_.size());
  bool is_any = false;
  for (size_t p = 0; p < kept_.size(); ++p) {
    const Rows& rows = kept_[p].rows;
    if (!is_tried[p] || rows.empty() || !pays_along_mean(rows, directions[p])) continue;
    check_unmodified(p);
    AlongMean& along = known.of_parameter[p];
    along = find_along_mean(rows, directions[p][0], parameters_[p].tensor.detach());
    is_tried[p] = along.is_known();
    is_any = is_any || along.is_known();
  }
  return is_any ? std::make_shared<KnownDirections>(std::move(known)) : nullptr;
}

Tensor FactoredRows::dots(const std::vector<Tensor>& directions) const {
  return dots(directions, KnownDirections());
}

Tensor FactoredRows::dots(const std::vector<Tensor>& directions,
                          const KnownDirections& known) const {
  const compat::PassGuard guard;
  check_directions(directions, parameters_, "kept rows", "directions");
  Tensor total;
  SlopesTogether together;
  const auto add = [&total](const Tensor& part) {
    if (part.defined()) total = total.defined() ? total + part : part;
  };
  for (size_t p = 0; p < kept_.size(); ++p) {
    if (kept_[p].rows.empty()) continue;
    check_unmodified(p);
    Questions questions;
    questions.what = Need::kDots;
    questions.directions = directions[p];
    questions.scratch_bytes = scratch_bytes_;
    if (!known.of_parameter.empty()) questions.along = known.of_parameter[p];
    const Tensor& factor = kept_[p].factor;
    if (!factor.defined() && together.add(kept_[p].rows, questions)) continue;
    const Tensor part = dots_of(p, questions);
    add(factor.defined() ? part.mul(factor.to(part.options())) : part);
  }
  add(together.sum());
  if (total.defined()) return total;
  return at::zeros({count_, directions[0].size(0)}, in_row_precision(directions[0]).options());
}

std::vector<Tensor> FactoredRows::dots_by_parameter(const std::vector<Tensor>& directions) const {
  const compat::PassGuard guard;
  check_directions(directions, parameters_, "kept rows", "directions");
  std::vector<Tensor> parts;
  for (size_t p = 0; p < kept_.size(); ++p) {
    if (kept_[p].rows.empty()) {
      const auto options = in_row_precision(directions[p]).options();
      parts.push_back(at::zeros({count_, directions[p].size(0)}, options));
      continue;
    }
    check_unmodified(p);
    Questions questions;
    questions.what = Need::kDots;
    questions.directions = directions[p].detach();
    questions.scratch_bytes = scratch_bytes_;
    const Tensor part = kept_[p].rows.answer(questions).dots;
    const Tensor& factor = kept_[p].factor;
    parts.push_back(factor.defined() ? part.mul(factor.to(part.options())) : part);
  }
  return parts;
}

void check_directions(const std::vector<Tensor>& directions,
                      const Parameters& parameters,
                      const char* caller,
                      const char* field) {
  TORCH_CHECK_VALUE(directions.size() == parameters.size(),
                    caller,
                    ": ",
                    directions.size(),
                    " directions for ",
                    parameters.size(),
                    " parameters; set ",
                    field,
                    " to one tensor [V, *shape] per parameter");
  const int64_t V = directions[0].dim() > 0 ? directions[0].size(0) : 0;
  for (size_t p = 0; p < parameters.size(); ++p) {
    Shape expected = parameters[p].tensor.sizes().vec();
    expected.insert(expected.begin(), V);
    TORCH_CHECK_VALUE(directions[p].sizes().equals(expected),
                      caller,
                      ": direction for '",
                      parameters[p].name,
                      "' has shape ",
                      directions[p].sizes(),
                      " but must be [V, *shape] = ",
                      at::IntArrayRef(expected),
                      "; stack the V directions in front");
  }
}

}  // namespace flightdeck

// SPDX-License-Identifier: MIT
#include "rows/together.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include <ATen/ATen.h>

#include "rows/dense.h"
#include "rows/gpu_tables.h"
#include "rows/outer.h"

namespace flightdeck {
namespace {

// Wide rows that are written out are multiplied faster by LibTorch.
constexpr int64_t kWidestWritten = 8192;

// Undefined b: not rows that a table takes.
TableRows factors_of(const Rows& rows) {
  if (rows.terms().size() != 1) return {};
  const Form& form = *rows.terms()[0].form;
  if (product(form.shape()) != product(rows.shape())) return {};
  std::vector<Tensor> factors = form.factors();
  if (const auto* outer = dynamic_cast<const OuterForm*>(&form)) {
    const bool is_plain = factors[0].size(0) == outer->N() && factors[0].size(1) == 1;
    if (!is_plain || !fits_tables(factors[0]) || !fits_tables(factors[1])) return {};
    return {factors[0].squeeze(1), factors[1].squeeze(1)};
  }
  if (dynamic_cast<const DenseForm*>(&form) && fits_tables(factors[0])) {
    const Tensor lines = factors[0].reshape({factors[0].size(0), -1});
    if (lines.size(1) > kWidestWritten) return {};
    return {Tensor(), lines};
  }
  return {};
}

// Norms, products with the mean and deviations come from one table.
bool is_in_scatter(const Answer& answer) {
  const auto field = answer.field();
  return field == &ParameterGradients::norms || field == &ParameterGradients::mean_dots ||
         field == &ParameterGradients::deviations;
}

bool is_histogram(const Answer& answer) {
  return std::string_view(answer.kind().name) == "histograms";
}

// a_n of the products <a_n, b_n> that are those of the rows with the direction.
Tensor mapped(const TableRows& rows, const Rows& whole, const Tensor& direction) {
  const Rows::Term& term = whole.terms()[0];
  const Tensor placed = term.placement.from_parameter(direction, 1).to(at::kFloat);
  if (!rows.a.defined()) return placed.reshape({1, -1});
  return at::mm(rows.a, placed.reshape({rows.a.size(1), rows.b.size(1)}));
}

bool asks_scatter(const Questions& questions) {
  const Asked all = asked(questions);
  return std::any_of(
      all.begin(), all.end(), [](const Answer* answer) { return is_in_scatter(*answer); });
}

// <g_n, v> of each, [P, N]; undefined if there is no kernel for that.
Tensor dots_of(const std::vector<RowsTogether::Item>& items) {
  std::vector<TableRows> lines;
  for (const RowsTogether::Item& item : items) {
    const Tensor& directions = item.questions.directions;
    if (directions.size(0) != 1) return {};
    lines.push_back({mapped(item.factors, item.rows, directions), item.factors.b});
  }
  return dots_by_table(lines).value_or(Tensor());
}

// The tables of all histograms; empty if there is no kernel for one of them.
std::vector<std::vector<Tensor>> counts_of(const std::vector<TableRows>& factors,
                                           const std::vector<Bins>& histograms) {
  std::vector<std::vector<Tensor>> counts;
  for (const Bins& bins : histograms) {
    const std::optional<Tensor> counted = counts_by_table(factors, bins);
    if (!counted) return {};
    counts.push_back(counted->unbind(0));
  }
  return counts;
}

}  // namespace

bool RowsTogether::take(size_t parameter, const Rows& rows, const Questions& questions) {
  if (!rows.options().device().is_cuda()) return false;
  TableRows factors = factors_of(rows);
  if (!factors.b.defined()) return false;
  if (!items_.empty() && items_[0].factors.b.device() != factors.b.device()) return false;
  bytes_ += static_cast<int64_t>(factors.b.nbytes());
  if (factors.a.defined()) bytes_ += static_cast<int64_t>(factors.a.nbytes());
  items_.push_back({parameter, rows, std::move(factors), questions, {}});
  return true;
}

bool RowsTogether::add(size_t parameter, const Rows& rows, const Questions& questions) {
  if (!asks_scatter(questions) && questions.histograms.empty()) return false;
  return take(parameter, rows, questions);
}

bool RowsTogether::add_for_dots(size_t parameter, const Rows& rows, const Questions& questions) {
  return take(parameter, rows, questions);
}

Tensor RowsTogether::dots() {
  const std::vector<Item> items = std::exchange(items_, {});
  bytes_ = 0;
  if (items.empty()) return {};
  const Tensor each = dots_of(items);
  if (each.defined()) return each.sum(0).unsqueeze(1);
  Tensor total;
  for (const Item& item : items) {
    const Tensor part = item.rows.answer(item.questions).dots;
    total = total.defined() ? total + part : part;
  }
  return total;
}

std::vector<RowsTogether::Item> RowsTogether::answer() {
  bytes_ = 0;
  std::vector<Item> items = std::exchange(items_, {});
  if (items.empty()) return items;
  std::vector<TableRows> factors;
  for (const Item& item : items) factors.push_back(item.factors);
  const Questions& questions = items[0].questions;
  const Needs what = questions.what;
  std::optional<TableScatter> scatter;
  if (asks_scatter(questions)) scatter = scatter_by_table(factors, questions.share);
  const auto counts = counts_of(factors, questions.histograms);
  const Tensor slopes = what.has(Need::kDots) ? dots_of(items) : Tensor();
  // One operation for all parameters, not one for each.
  const auto lines = [](bool is_wanted, const Tensor& table) {
    return is_wanted ? table.unbind(0) : std::vector<Tensor>();
  };
  const bool has_scatter = scatter.has_value();
  if (!scatter) scatter.emplace();
  const auto norms = lines(has_scatter && what.has(Need::kNorms), scatter->norms);
  const auto dots = lines(has_scatter && what.has(Need::kMeanDots), scatter->dots);
  const auto deviations = lines(has_scatter && what.has(Need::kDeviations), scatter->deviations);
  const auto squared_means = lines(has_scatter, scatter->squared_mean);
  const auto of_directions = lines(slopes.defined(), slopes);
  for (size_t k = 0; k < items.size(); ++k) {
    Asked rest;
    for (const Answer* answer : asked(items[k].questions)) {
      const bool is_known = (is_histogram(*answer) && !counts.empty()) ||
                            (is_in_scatter(*answer) && has_scatter) ||
                            (answer->field() == &ParameterGradients::dots && slopes.defined());
      if (!is_known) rest.push_back(answer);
    }
    Answers& answers = items[k].answers;
    if (!rest.empty()) answers = items[k].rows.answer(rest, items[k].questions);
    answers.epsilon = items[k].rows.epsilon();
    if (!norms.empty()) answers.norms = norms[k];
    if (!dots.empty()) answers.mean_dots = dots[k];
    if (!deviations.empty()) answers.deviations = deviations[k];
    if (!squared_means.empty()) answers.squared_mean = squared_means[k];
    if (!of_directions.empty()) answers.dots = of_directions[k].unsqueeze(1);
    for (const std::vector<Tensor>& table : counts) answers.histograms.push_back(table[k]);
    answers.algorithm += (answers.algorithm.empty() ? "" : "; ");
    answers.algorithm += "with other parameters in one launch";
  }
  return items;
}

}  // namespace flightdeck

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

// LibTorch multiplies wide rows that are written out faster.
constexpr int64_t kWidestWritten = 8192;

// Returns true if the rows are one form that fills the parameter.
bool is_one_form(const Rows& rows) {
  return rows.terms().size() == 1 &&
         product(rows.terms()[0].form->shape()) == product(rows.shape());
}

// Returns the factors of rows; b is undefined if a table does not take them.
TableRows factors_of(const Rows& rows) {
  if (!is_one_form(rows)) return {};
  const Form& form = *rows.terms()[0].form;
  std::vector<Tensor> factors = form.factors();
  if (const auto* outer = dynamic_cast<const OuterForm*>(&form)) {
    const bool is_plain = factors[0].size(0) == outer->N() && factors[0].size(1) == 1;
    if (!is_plain || !fits_tables(factors[0]) || !fits_tables(factors[1])) return {};
    return {std::move(factors[0]), std::move(factors[1])};
  }
  if (dynamic_cast<const DenseForm*>(&form) && fits_tables(factors[0])) {
    const Tensor& written = factors[0];
    const Tensor lines = written.dim() == 2 ? written : written.reshape({written.size(0), -1});
    if (lines.size(1) > kWidestWritten) return {};
    return {Tensor(), lines};
  }
  return {};
}

// Prepares the products with one direction [1, *shape]; returns nothing if the kernel does not take
// the rows.
std::optional<TableSlope> slope_of(const Rows& rows, const Tensor& directions) {
  const bool is_plain = directions.size(0) == 1 && directions.is_contiguous();
  if (!is_plain || !fits_tables(directions) || !is_one_form(rows)) return std::nullopt;
  const Placement& placement = rows.terms()[0].placement;
  const TableRows single = factors_of(rows);
  TableSlope slope{single.a, single.b, directions, 0, 1};
  if (!single.b.defined()) {  // several positions
    const auto* outer = dynamic_cast<const OuterForm*>(rows.terms()[0].form.get());
    if (outer == nullptr) return std::nullopt;
    std::vector<Tensor> factors = outer->factors();
    const bool has_own = factors[0].size(0) == outer->N();
    if (!has_own || !fits_tables(factors[0]) || !fits_tables(factors[1])) return std::nullopt;
    slope.a = std::move(factors[0]);
    slope.b = std::move(factors[1]);
  }
  if (!slope.a.defined()) return placement.keeps_order() ? std::optional(slope) : std::nullopt;
  if (placement.keeps_order()) {
    slope.u_i = slope.b.size(-1);
  } else if (placement.is_transposition()) {
    slope.u_i = 1;
    slope.u_j = slope.a.size(-1);
  } else {
    return std::nullopt;
  }
  return slopes_pay(slope) ? std::optional(slope) : std::nullopt;
}

// Returns true for norms, products with the mean and deviations, which come from one table.
bool is_in_scatter(const Answer& answer) {
  const auto field = answer.field();
  return field == &ParameterGradients::norms || field == &ParameterGradients::mean_dots ||
         field == &ParameterGradients::deviations;
}

bool is_histogram(const Answer& answer) {
  return std::string_view(answer.kind().name) == "histograms";
}

bool asks_scatter(const Questions& questions) {
  const Asked all = asked(questions);
  return std::any_of(
      all.begin(), all.end(), [](const Answer* answer) { return is_in_scatter(*answer); });
}

// Returns the tables of all histograms; none if there is no kernel for one of them.
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

bool RowsTogether::add(size_t parameter, const Rows& rows, const Questions& questions) {
  if (!asks_scatter(questions) && questions.histograms.empty()) return false;
  if (!runs_behind(rows.options().device())) return false;
  TableRows factors = factors_of(rows);
  if (!factors.b.defined()) return false;
  if (!items_.empty() && items_[0].factors.b.device() != factors.b.device()) return false;
  bytes_ += static_cast<int64_t>(factors.b.nbytes());
  if (factors.a.defined()) bytes_ += static_cast<int64_t>(factors.a.nbytes());
  items_.push_back({parameter, rows, std::move(factors), questions, {}, std::nullopt});
  if (questions.what.has(Need::kDots)) items_.back().slope = slope_of(rows, questions.directions);
  return true;
}

// Returns the dots of items that have a slope, by item; undefined for others.
std::vector<Tensor> RowsTogether::dots_of_each() const {
  std::vector<Tensor> dots(items_.size());
  std::vector<TableSlope> slopes;
  for (const Item& item : items_) {
    if (item.slope) slopes.push_back(*item.slope);
  }
  if (slopes.empty()) return dots;
  const auto all = slopes_by_table(slopes);
  if (!all) return dots;
  const std::vector<Tensor> lines = all->unsqueeze(2).unbind(0);
  auto next = lines.begin();
  for (size_t k = 0; k < items_.size(); ++k) {
    if (items_[k].slope) dots[k] = *next++;
  }
  return dots;
}

bool SlopesTogether::add(const Rows& rows, const Questions& questions) {
  if (!runs_behind(rows.options().device())) return false;
  const auto slope = slope_of(rows, questions.directions);
  if (!slope || (!slopes_.empty() && slopes_[0].b.device() != slope->b.device())) return false;
  slopes_.push_back(*slope);
  items_.emplace_back(rows, questions);
  return true;
}

Tensor SlopesTogether::sum() {
  if (slopes_.empty()) return {};
  if (const auto each = slopes_by_table(slopes_)) return each->sum(0).unsqueeze(1);
  Tensor total;
  for (const auto& [rows, questions] : items_) {
    const Tensor part = rows.answer(questions).dots;
    total = total.defined() ? total + part : part;
  }
  return total;
}

std::vector<RowsTogether::Item> RowsTogether::answer() {
  bytes_ = 0;
  if (items_.empty()) return {};
  const std::vector<Tensor> slopes = dots_of_each();
  std::vector<Item> items = std::exchange(items_, {});
  std::vector<TableRows> factors;
  for (const Item& item : items) factors.push_back(item.factors);
  const Questions& questions = items[0].questions;
  const Needs what = questions.what;
  std::optional<TableScatter> scatter;
  if (asks_scatter(questions)) scatter = scatter_by_table(factors, questions.share);
  const auto counts = counts_of(factors, questions.histograms);
  // All parameters take one operation, not one each.
  const auto lines = [](bool is_wanted, const Tensor& table) {
    return is_wanted ? table.unbind(0) : std::vector<Tensor>();
  };
  const bool has_scatter = scatter.has_value();
  if (!scatter) scatter.emplace();
  const auto norms = lines(has_scatter && what.has(Need::kNorms), scatter->norms);
  const auto dots = lines(has_scatter && what.has(Need::kMeanDots), scatter->dots);
  const auto deviations = lines(has_scatter && what.has(Need::kDeviations), scatter->deviations);
  const auto squared_means = lines(has_scatter, scatter->squared_mean);
  for (size_t k = 0; k < items.size(); ++k) {
    Asked rest;
    for (const Answer* answer : asked(items[k].questions)) {
      const bool is_known = (is_histogram(*answer) && !counts.empty()) ||
                            (is_in_scatter(*answer) && has_scatter) ||
                            (answer->field() == &ParameterGradients::dots && slopes[k].defined());
      if (!is_known) rest.push_back(answer);
    }
    Answers& answers = items[k].answers;
    if (!rest.empty()) answers = items[k].rows.answer(rest, items[k].questions);
    answers.epsilon = items[k].rows.epsilon();
    if (!norms.empty()) answers.norms = norms[k];
    if (!dots.empty()) answers.mean_dots = dots[k];
    if (!deviations.empty()) answers.deviations = deviations[k];
    if (!squared_means.empty()) answers.squared_mean = squared_means[k];
    if (slopes[k].defined()) answers.dots = slopes[k];
    for (const std::vector<Tensor>& table : counts) answers.histograms.push_back(table[k]);
    answers.algorithm += (answers.algorithm.empty() ? "" : "; ");
    answers.algorithm += "with other parameters in one launch";
  }
  return items;
}

}  // namespace flightdeck

// SPDX-License-Identifier: MIT
#include "rows/answer.h"

#include <algorithm>

#include <ATen/ATen.h>

#include "rows/sums.h"

namespace flightdeck {
namespace answers {

#define FLIGHTDECK_ENTRY(name) const Answer& name();
#include "flightdeck/answers.inc"
#undef FLIGHTDECK_ENTRY

}  // namespace answers

Look operator|(const Look& a, const Look& b) {
  Look both;
  both.sum = a.sum || b.sum;
  both.squares = a.squares || b.squares;
  both.norms = a.norms || b.norms;
  both.centred = a.centred || b.centred;
  both.centred_squares = a.centred_squares || b.centred_squares;
  both.rows = a.rows || b.rows;
  both.pairs = a.pairs || b.pairs;
  both.keeps = a.keeps || b.keeps;
  both.gives_norms = a.gives_norms || b.gives_norms;
  return both;
}

const Asked& answer_catalogue() {
  static const Asked all = {
#define FLIGHTDECK_ENTRY(name) &answers::name(),
#include "flightdeck/answers.inc"
#undef FLIGHTDECK_ENTRY
  };
  return all;
}

Asked asked(const Questions& questions) {
  Asked found;
  for (const Answer* answer : answer_catalogue()) {
    if (answer->is_asked(questions)) found.push_back(answer);
  }
  return found;
}

Needs needs_of(const Asked& asked) {
  Needs needs;
  for (const Answer* answer : asked) needs = needs | answer->need();
  return needs;
}

Look look_of(const Asked& asked) {
  Look look;
  for (const Answer* answer : asked) look = look | answer->look();
  return look;
}

bool reads_rows(const Asked& asked) {
  return std::any_of(asked.begin(), asked.end(), [](const Answer* answer) {
    return !answer->follows_others() && answer->look().reads();
  });
}

Asked answer_each(const Asked& asked,
                  const std::function<Values(const Answer&)>& answer_one,
                  Answers& answers) {
  Asked rest;
  for (const Answer* answer : asked) {
    Values values = answer_one(*answer);
    if (values.empty()) {
      rest.push_back(answer);
    } else {
      answer->put(answers, std::move(values));
    }
  }
  return rest;
}

void move_entries(const Asked& asked,
                  const std::function<Tensor(const Tensor& tensor, int64_t lead)>& move,
                  Answers& answers) {
  for (const Answer* answer : asked) {
    const Extent extent = answer->kind().extent;
    if (extent != Extent::kEntries && extent != Extent::kRows) continue;
    Values values = answer->get(answers);
    for (Tensor& value : values) value = move(value, extent == Extent::kRows ? 1 : 0);
    answer->put(answers, std::move(values));
  }
}

Values Answer::zeros(int64_t count,
                     const Shape& shape,
                     const at::TensorOptions& rows,
                     const Questions&) const {
  const AnswerKind own = kind();
  const at::TensorOptions options = own.in_double ? rows.dtype(at::kDouble) : rows;
  if (own.extent == Extent::kSamples) return {at::zeros({count}, options)};
  Shape sizes = shape;
  if (own.extent == Extent::kRows) sizes.insert(sizes.begin(), count);
  return {at::zeros(sizes, options)};
}

void Answer::add(Values& total, const Values& part) const {
  for (size_t k = 0; k < part.size(); ++k) total[k] = total[k] + part[k];
}

void Answer::scale(Values& values, const Tensor& factor) const {
  const AnswerKind own = kind();
  if (own.power == Power::kNone) return;
  Tensor applied = factor;
  if (own.power == Power::kSquare) applied = factor.square();
  if (own.power == Power::kMagnitude) applied = factor.abs();
  for (Tensor& value : values) {
    const Tensor as_value = applied.to(value.options());
    // The value is as large as the parameter and ours alone, so that it is scaled in place.
    value = own.extent == Extent::kEntries ? value.mul_(as_value) : value.mul(as_value);
  }
}

bool Answer::is_sum_in_total() const {
  const Extent extent = kind().extent;
  return extent == Extent::kSamples || extent == Extent::kPairs || extent == Extent::kCounts;
}

void Answer::add_to_total(Values& total, const Values& part) const {
  if (!is_sum_in_total()) return;
  const bool is_first = total.empty();
  for (size_t k = 0; k < part.size(); ++k) {
    if (is_first) {
      total.push_back(part[k].clone());
    } else {
      total[k] = total[k] + part[k];
    }
  }
}

Values TensorAnswer::get(const ParameterGradients& from) const {
  const Tensor& tensor = from.*field_;
  return tensor.defined() ? Values{tensor} : Values{};
}

void TensorAnswer::put(ParameterGradients& to, Values values) const {
  to.*field_ = values.empty() ? Tensor() : std::move(values[0]);
}

Values SumReader::finish(Sums& sums) { return {(sums.*read_)()}; }

}  // namespace flightdeck

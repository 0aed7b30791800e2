// SPDX-License-Identifier: MIT
#include "flightdeck/due_steps.h"

#include <charconv>
#include <cmath>
#include <set>
#include <sstream>

#include <c10/util/Exception.h>

#include "base/exact_text.h"
#include "base/limits.h"

namespace flightdeck {
namespace {

template <typename Numbers>
std::string join(const Numbers& numbers) {
  std::ostringstream text;
  const char* separator = "";
  for (int64_t number : numbers) {
    text << separator << number;
    separator = ",";
  }
  return text.str();
}

// Splits the text of due steps into words and numbers; throws where one is missing.
class Words {
 public:
  explicit Words(const std::string& text) : text_(text), words_(text) {}

  template <typename Number>
  Number number() {
    Number value{};
    if (!(words_ >> value)) refuse();
    return value;
  }
  bool at_end() { return (words_ >> std::ws).eof(); }
  std::string word() {
    std::string word;
    words_ >> word;
    return word;
  }
  [[noreturn]] void refuse() const {
    TORCH_CHECK_VALUE(false,
                      "due steps: '",
                      text_,
                      "' names no steps; write \"every 16\", \"every 16 from 3\", "
                      "\"every 16 after the first 50\", \"log 0 4\", \"log 0 4 300\" or "
                      "\"at 0,5,9\"");
  }

 private:
  std::string text_;
  std::istringstream words_;
};

std::vector<int64_t> parse_steps(Words& words) {
  std::vector<int64_t> steps;
  while (!words.at_end()) {
    std::istringstream list(words.word());
    for (std::string item; std::getline(list, item, ',');) {
      if (item.empty()) continue;
      if (item.find_first_not_of("0123456789") != std::string::npos) words.refuse();
      int64_t step = 0;
      const char* const end = item.data() + item.size();
      if (std::from_chars(item.data(), end, step).ec != std::errc()) words.refuse();
      steps.push_back(step);
    }
  }
  return steps;
}

// Parses "16", "16 from 3" or "16 after the first 50".
DueSteps parse_every(Words& words) {
  const auto interval = words.number<int64_t>();
  if (words.at_end()) return DueSteps::every(interval);
  const std::string word = words.word();
  const bool has_start = word == "after";
  if (has_start ? words.word() != "the" || words.word() != "first" : word != "from") words.refuse();
  const auto step = words.number<int64_t>();
  if (!words.at_end()) words.refuse();
  return has_start ? DueSteps::every_after(interval, step) : DueSteps::every(interval, step);
}

}  // namespace

DueSteps DueSteps::every(int64_t interval, int64_t offset) {
  TORCH_CHECK_VALUE(
      interval >= 1, "due steps: the interval is ", interval, "; it has to be at least 1");
  TORCH_CHECK_VALUE(offset >= 0, "due steps: the offset is ", offset, "; it has to be at least 0");
  std::string text = "every " + std::to_string(interval);
  if (offset > 0) text += " from " + std::to_string(offset);
  return {[interval, offset](int64_t step) {
            return step >= offset && (step - offset) % interval == 0;
          },
          std::move(text)};
}

DueSteps DueSteps::every_after(int64_t interval, int64_t first) {
  TORCH_CHECK_VALUE(
      interval >= 1, "due steps: the interval is ", interval, "; it has to be at least 1");
  TORCH_CHECK_VALUE(first >= 1, "due steps: the first ", first, " steps are none; give at least 1");
  return {[interval, first](int64_t step) { return step < first || step % interval == 0; },
          c10::str("every ", interval, " after the first ", first)};
}

DueSteps DueSteps::logarithmic(double start, double end, int64_t points, double base, bool first) {
  const std::string what =
      c10::str("due steps: logarithmic from ", base, "^", start, " to ", base, "^", end);
  TORCH_CHECK_VALUE(points >= 1 && points <= limits::kDuePoints && base > 1 &&
                        std::isfinite(start) && std::isfinite(end) &&
                        std::pow(base, std::max(start, end)) < 9e18,
                    what,
                    " with ",
                    points,
                    " points; give finite exponents, a base above 1 and 1 to ",
                    limits::kDuePoints,
                    " points");
  TORCH_CHECK_VALUE(start <= end, what, "; give the smaller exponent first");
  std::set<int64_t> steps;
  if (first) steps.insert(0);
  for (int64_t k = 0; k < points; ++k) {
    const double share = points == 1 ? 0.0 : static_cast<double>(k) / (points - 1);
    steps.insert(static_cast<int64_t>(std::pow(base, start + share * (end - start))));
  }
  std::ostringstream text;
  text << "log " << exact_text(start) << " " << exact_text(end) << " " << points;
  if (base != 10 || !first) text << " (base " << base << (first ? ")" : ", without 0)");
  return {[steps = std::move(steps)](int64_t step) { return steps.count(step) != 0; }, text.str()};
}

DueSteps DueSteps::at(std::vector<int64_t> steps) {
  std::set<int64_t> set(steps.begin(), steps.end());
  std::string text = "at " + join(set);
  return {[set = std::move(set)](int64_t step) { return set.count(step) != 0; }, std::move(text)};
}

DueSteps DueSteps::when(std::function<bool(int64_t)> predicate, std::string text) {
  TORCH_CHECK_VALUE(predicate != nullptr, "due steps: the predicate is empty; give a function");
  return {std::move(predicate), std::move(text)};
}

DueSteps DueSteps::parse(const std::string& text) {
  Words words(text);
  const std::string kind = words.word();
  if (kind == "at") {
    const std::vector<int64_t> steps = parse_steps(words);
    if (steps.empty()) words.refuse();
    return at(steps);
  }
  if (kind == "every") return parse_every(words);
  if (kind != "log") words.refuse();
  const auto start = words.number<double>();
  const auto end = words.number<double>();
  const int64_t points = words.at_end() ? 300 : words.number<int64_t>();
  if (!words.at_end()) words.refuse();
  return logarithmic(start, end, points);
}

}  // namespace flightdeck

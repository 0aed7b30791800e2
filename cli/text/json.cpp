// SPDX-License-Identifier: MIT
#include "cli/text/json.h"

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/exact_text.h"

namespace flightdeck::cli {
namespace {

using Value = nlohmann::ordered_json;

// Leaves out the ".0" of whole numbers.
Value number_value(double number) {
  constexpr double kExact = 1e15;
  const bool is_whole = std::abs(number) < kExact && number == std::floor(number);
  if (is_whole && !(number == 0 && std::signbit(number))) return static_cast<int64_t>(number);
  return number;
}

// Escapes what nlohmann-json does not: it escapes control characters below U+0020 alone. Outside of
// strings a document has none of the others.
std::string with_all_controls_escaped(const std::string& document) {
  std::string escaped;
  for (size_t i = 0; i < document.size(); ++i) {
    const auto byte = static_cast<unsigned char>(document[i]);
    const auto next = static_cast<unsigned char>(i + 1 < document.size() ? document[i + 1] : 0);
    const bool is_of_two = byte == 0xc2 && next < 0xa0;
    if (byte != 0x7f && !is_of_two) {
      escaped += document[i];
      continue;
    }
    char code[7];
    std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(is_of_two ? next : byte));
    escaped += code;
    i += is_of_two ? 1 : 0;
  }
  return escaped;
}

}  // namespace

struct Json::Tree {
  Value value;
};

Json::Json() : tree_(new Tree) {}
Json::Json(std::unique_ptr<Tree> tree) : tree_(std::move(tree)) {}
Json::Json(const std::string& text) : tree_(new Tree{text}) {}
Json::Json(const char* text) : tree_(new Tree{text}) {}
Json::Json(double number) : tree_(new Tree{number_value(number)}) {}
Json::Json(int64_t number) : tree_(new Tree{number}) {}
Json::Json(bool truth) : tree_(new Tree{truth}) {}
Json::Json(const Json& other) : tree_(new Tree(*other.tree_)) {}
Json::Json(Json&& other) noexcept = default;
Json::~Json() = default;

Json& Json::operator=(Json other) noexcept {
  tree_ = std::move(other.tree_);
  return *this;
}

Json Json::array() { return Json(std::unique_ptr<Tree>(new Tree{Value::array()})); }
Json Json::object() { return Json(std::unique_ptr<Tree>(new Tree{Value::object()})); }

Json& Json::field(const std::string& key, const Json& value) {
  tree_->value[key] = value.tree_->value;
  return *this;
}

Json& Json::add(const Json& element) {
  tree_->value.push_back(element.tree_->value);
  return *this;
}

std::string Json::text() const {
  return with_all_controls_escaped(
      tree_->value.dump(-1, ' ', false, Value::error_handler_t::replace));
}

double measured(double value) { return rounded(value, 6); }

}  // namespace flightdeck::cli

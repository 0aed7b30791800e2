// SPDX-License-Identifier: MIT
// JSON that the tool prints, one object or array a line. nlohmann-json builds and writes it; its
// header stays in json.cpp, because it takes every file that includes it three seconds to compile.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace flightdeck::cli {

// A value, an array or an object. Everything that has a constructor here can be a field or an
// element.
class Json {
 public:
  Json();  // null
  Json(const std::string& text);
  Json(const char* text);
  // Keeps all digits; null where JSON has no such number (NaN, infinity).
  Json(double number);
  Json(int64_t number);
  Json(bool truth);
  template <typename Whole,
            std::enable_if_t<std::is_integral_v<Whole> && !std::is_same_v<Whole, bool>, int> = 0>
  Json(Whole number) : Json(static_cast<int64_t>(number)) {}
  template <typename Element>
  Json(const std::vector<Element>& elements) : Json(array()) {
    for (const Element& element : elements) add(element);
  }
  template <typename Entry>
  Json(const std::map<std::string, Entry>& entries) : Json(object()) {
    for (const auto& [name, entry] : entries) field(name, entry);
  }
  Json(const Json& other);
  Json(Json&& other) noexcept;
  Json& operator=(Json other) noexcept;
  ~Json();

  static Json array();
  static Json object();

  // Adds to an object; fields keep their order.
  Json& field(const std::string& key, const Json& value);
  // Adds to an array.
  Json& add(const Json& element);

  // Writes no line breaks. Bytes that are no UTF-8 become U+FFFD; control characters are escaped,
  // so that a terminal shows them.
  std::string text() const;

 private:
  struct Tree;
  explicit Json(std::unique_ptr<Tree> tree);

  std::unique_ptr<Tree> tree_;
};

// Rounds a measurement to the digits that mean something: six.
double measured(double value);

}  // namespace flightdeck::cli

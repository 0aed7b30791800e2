// SPDX-License-Identifier: MIT
// The parameters of a request, checked. Everything wrong with them is a `Refused` with status 400.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "serve/http.h"

namespace flightdeck::serve {

class Query {
 public:
  // Refuses parameters that are not among `known` or come twice.
  Query(const Request& request, std::initializer_list<const char*> known);

  std::optional<std::string> find(const std::string& name) const;
  std::string required(const std::string& name) const;
  int64_t integer(const std::string& name, int64_t otherwise, int64_t low, int64_t high) const;
  // Reads a list such as "1,2,3" with at most `at_most` ids.
  std::vector<int64_t> ids(const std::string& name, size_t at_most) const;

 private:
  std::map<std::string, std::string> values_;
};

}  // namespace flightdeck::serve

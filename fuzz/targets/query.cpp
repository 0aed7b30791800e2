// SPDX-License-Identifier: MIT
// Query of addresses, already decoded: name, value, name, value, each ended by a zero byte.
#include "serve/query.h"

#include "fuzz/fuzz.h"

using namespace flightdeck;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const std::string text = fuzz::text_of(bytes, size);
  serve::Request request;
  request.path = "/api/v1/series";
  std::string name;
  bool is_value = false;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\0', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    if (is_value) request.parameters.emplace(name, word);
    name = word;
    is_value = !is_value;
    begin = end + 1;
  }
  fuzz::accepts([&] {
    const serve::Query parameters(request, {"run", "ids", "first", "points"});
    fuzz::accepts([&] { parameters.required("run"); });
    fuzz::accepts([&] {
      const int64_t points = parameters.integer("points", 10, 1, 100);
      fuzz::require(points >= 1 && points <= 100);
    });
    fuzz::accepts([&] { parameters.integer("first", 0, INT64_MIN, INT64_MAX); });
    fuzz::accepts([&] { fuzz::require(parameters.ids("ids", 5).size() <= 5); });
  });
  return 0;
}

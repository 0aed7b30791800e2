// SPDX-License-Identifier: MIT
#include "errors.h"

#include <algorithm>

#include <gtest/gtest.h>
#include <torch/torch.h>

namespace flightdeck::tests {

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const c10::Error& error) {
    return error.what_without_backtrace();
  } catch (const std::exception& error) {
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

void expect_mentions(const std::string& message, const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    bool is_found = false;
    size_t begin = 0;
    while (begin <= word.size()) {
      const size_t end = std::min(word.find('|', begin), word.size());
      is_found = is_found || message.find(word.substr(begin, end - begin)) != std::string::npos;
      begin = end + 1;
    }
    EXPECT_TRUE(is_found) << "\"" << word << "\" is not in: " << message;
  }
}

void expect_error(const std::function<void()>& call, const std::vector<std::string>& words) {
  expect_mentions(error_of(call), words);
}

}  // namespace flightdeck::tests

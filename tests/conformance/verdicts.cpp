// SPDX-License-Identifier: MIT
#include "conformance/verdicts.h"

#include <algorithm>

#include <torch/torch.h>

namespace flightdeck::tests {
namespace {

// Words of LibTorch's own errors: something went on until it broke.
bool is_accident(const std::string& message) {
  static const char* const words[] = {"INTERNAL ASSERT",
                                      "Expected ",
                                      "expected scalar type",
                                      "Dimension out of range",
                                      "Tensor must have",
                                      "The size of tensor",
                                      "must match",
                                      "is invalid for input of size",
                                      "not implemented for",
                                      "derivative for "};
  return std::any_of(std::begin(words), std::end(words), [&](const char* word) {
    return message.find(word) != std::string::npos;
  });
}

bool is_refusal(const std::string& message) {
  static const char* const areas[] = {
      "gradients: ", "watch: ", "curvature: ", "vivit: ", "cockpit: ", "products: ", "spectra: "};
  return std::any_of(std::begin(areas),
                     std::end(areas),
                     [&](const char* area) { return message.rfind(area, 0) == 0; }) &&
         !is_accident(message);
}

}  // namespace

bool mentions(const std::vector<std::string>& remarks, const std::string& word) {
  return std::any_of(remarks.begin(), remarks.end(), [&](const std::string& remark) {
    return remark.find(word) != std::string::npos;
  });
}

void Verdicts::ask(const std::string& question,
                   const std::function<Answer()>& answer,
                   bool has_right_answer) {
  try {
    const Answer given = answer();
    if (!has_right_answer) {
      failures.push_back(question + ": answered, but the loss has no individual losses");
    } else if (given.differences.empty()) {
      ++exact;
    } else if (given.is_remarked) {
      ++remarked;
    } else if (given.is_inherited) {
      ++inherited;
    } else {
      for (const std::string& line : given.differences) failures.push_back(question + ": " + line);
    }
  } catch (const c10::Error& error) {
    const std::string message = error.what_without_backtrace();
    if (is_refusal(message)) {
      ++refused;
      refusals.push_back(question + ": " + message);
    } else {
      failures.push_back(question + " broke: " + message);
    }
  } catch (const std::exception& error) {
    failures.push_back(question + " broke: " + error.what());
  }
}

}  // namespace flightdeck::tests

// SPDX-License-Identifier: MIT
#include "cli/text/tool_words.h"

namespace flightdeck::cli {
namespace {

struct Words {
  const char* library;
  const char* tool;
};

// Sentences stand before the words they contain, because they are replaced in this order.
constexpr Words kWords[] = {
    {"set options.batch_norm to kConstantStatistics or kSplitGradient",
     "give --batch-norm split or --batch-norm constant"},
    {"set options.batch_norm to ", "give "},
    {"kConstantStatistics", "--batch-norm constant"},
    {"kSplitGradient", "--batch-norm split"},
    {"set options.token to at least", "give --token with at least"},
    {"set options.host to one", "give a --host"},
    {"options.host", "--host"},
    {"options.port", "--port"},
    {"force the deletion of all", "give --force, which deletes all"},
    {"options.resume", "--resume"},
    {"options.token", "--token"},
    {"experiment: options.", "experiment: --"},
    {"choose another folder", "choose another --out"},
    {"the grid is '", "--grid is '"},
};

}  // namespace

std::string in_words_of_the_tool(std::string text) {
  for (const Words& words : kWords) {
    const std::string from = words.library, to = words.tool;
    for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at)) {
      text.replace(at, from.size(), to);
      at += to.size();
    }
  }
  return text;
}

}  // namespace flightdeck::cli

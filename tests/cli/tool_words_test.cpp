// SPDX-License-Identifier: MIT
#include "cli/tool_words.h"

#include <gtest/gtest.h>

namespace flightdeck::cli {
namespace {

TEST(ToolWords, NameTheOptionForABatchNormPolicy) {
  EXPECT_EQ(in_words_of_the_tool("put it in eval mode, or set options.batch_norm to "
                                 "kConstantStatistics or kSplitGradient"),
            "put it in eval mode, or give --batch-norm split or --batch-norm constant");
  EXPECT_EQ(in_words_of_the_tool("it couples the samples (kSplitGradient): a row is"),
            "it couples the samples (--batch-norm split): a row is");
  EXPECT_EQ(in_words_of_the_tool("set options.batch_norm to kConstantStatistics"),
            "give --batch-norm constant");
}

TEST(ToolWords, LeaveOtherTextAsItIs) { EXPECT_EQ(in_words_of_the_tool("lr is 0"), "lr is 0"); }

}  // namespace
}  // namespace flightdeck::cli

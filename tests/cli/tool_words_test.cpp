// SPDX-License-Identifier: MIT
#include "cli/text/tool_words.h"

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

TEST(ToolWords, NameTheOptionsForWhatALibraryWants) {
  EXPECT_EQ(in_words_of_the_tool("cannot listen: give another options.port, or 0"),
            "cannot listen: give another --port, or 0");
  EXPECT_EQ(in_words_of_the_tool("set options.host to one that this machine has"),
            "give a --host that this machine has");
  EXPECT_EQ(in_words_of_the_tool("runs/a holds no study; choose another folder"),
            "runs/a holds no study; choose another --out");
}

TEST(ToolWords, LeaveOtherTextAsItIs) { EXPECT_EQ(in_words_of_the_tool("lr is 0"), "lr is 0"); }

}  // namespace
}  // namespace flightdeck::cli

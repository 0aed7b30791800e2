// SPDX-License-Identifier: MIT
#include "flightdeck/grouping.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "cockpit/groups.h"
#include "errors.h"

namespace flightdeck::tests {
namespace {

using Names = std::vector<std::string>;
using Members = std::vector<size_t>;

torch::nn::Sequential small_net() {
  namespace nn = torch::nn;
  return nn::Sequential({{"conv", nn::Conv2d(1, 2, 3)},
                         {"relu", nn::ReLU()},
                         {"flatten", nn::Flatten()},
                         {"norm", nn::LayerNorm(nn::LayerNormOptions({8}))},
                         {"dense", nn::Linear(8, 3)}});
}

Groups groups_of(const Grouping& grouping) {
  torch::nn::Sequential net = small_net();
  const Parameters parameters(net->named_parameters());
  const Tensor losses = net->forward(torch::randn({2, 1, 4, 4})).square().sum(1);
  const Capture capture = capture_graph(losses, parameters);
  return make_groups(grouping, parameters, &capture);
}

TEST(Grouping, PutsTheWholeModelFirst) {
  const Groups groups = groups_of(Grouping::whole());
  EXPECT_EQ(groups.names, Names({""}));
  EXPECT_EQ(groups.members[0], Members({0, 1, 2, 3, 4, 5}));
}

TEST(Grouping, GoesByParameterAndModule) {
  EXPECT_EQ(groups_of(Grouping::by_parameter()).names,
            Names({"",
                   "conv.weight",
                   "conv.bias",
                   "norm.weight",
                   "norm.bias",
                   "dense.weight",
                   "dense.bias"}));
  const Groups groups = groups_of(Grouping::by_module());
  EXPECT_EQ(groups.names, Names({"", "conv", "norm", "dense"}));
  EXPECT_EQ(groups.members[2], Members({2, 3}));
}

TEST(Grouping, IsByModuleOfItselfUnlessThereAreNoneOrTooMany) {
  const auto text_for = [](const Names& names) {
    std::vector<NamedParameter> parameters;
    for (const std::string& name : names) parameters.push_back({name, torch::zeros({1})});
    return settled(Grouping::automatic(), Parameters(parameters)).text();
  };
  EXPECT_EQ(text_for({"conv.weight", "conv.bias", "dense.weight"}), "module");
  EXPECT_EQ(text_for({"conv.weight", "conv.bias"}), "whole");
  EXPECT_EQ(text_for({"weight", "bias"}), "whole");
  Names many;
  for (size_t k = 0; k <= Grouping::kMostAutomatic; ++k)
    many.push_back(std::to_string(k) + ".bias");
  EXPECT_EQ(text_for(many), "whole");
  many.pop_back();
  EXPECT_EQ(text_for(many), "module");
  EXPECT_EQ(settled(Grouping::by_depth(), Parameters(small_net()->named_parameters())).text(),
            "depth");
}

TEST(Grouping, CutsModuleNamesAtLevels) {
  EXPECT_EQ(module_of("encoder.0.attention.weight"), "encoder.0.attention");
  EXPECT_EQ(module_of("encoder.0.attention.weight", 1), "encoder");
  EXPECT_EQ(module_of("encoder.0.attention.weight", 2), "encoder.0");
  EXPECT_EQ(module_of("encoder.0.attention.weight", 9), "encoder.0.attention");
  EXPECT_EQ(module_of("scale"), "scale");
}

TEST(Grouping, ReadsLayerTypesFromTheGraph) {
  const Groups groups = groups_of(Grouping::by_layer_type());
  EXPECT_EQ(groups.names, Names({"", "convolution", "norm", "linear"}));
}

TEST(Grouping, CountsDepthFromTheInputs) {
  const Groups groups = groups_of(Grouping::by_depth());
  EXPECT_EQ(groups.names, Names({"", "depth 00", "depth 01", "depth 02"}));
  EXPECT_EQ(groups.members[1], Members({0, 1}));
  EXPECT_EQ(groups.members[3], Members({4, 5}));
}

TEST(Grouping, TakesTheFirstPatternThatFits) {
  const Groups groups = groups_of(Grouping::by_pattern({"^conv", "bias$"}));
  EXPECT_EQ(groups.names, Names({"", "^conv", "other", "bias$"}));
  EXPECT_EQ(groups.members[3], Members({3, 5}));
}

TEST(Grouping, ReadsWhatItsTextSays) {
  for (const char* text :
       {"whole", "parameter", "module", "module:2", "type", "depth", "pattern:^conv,bias$"}) {
    EXPECT_EQ(Grouping::parse(text).text(), text);
  }
}

TEST(Grouping, RefusesWhatIsNone) {
  for (const char* text : {"", "layers", "module:x", "pattern:"}) {
    expect_error([&] { Grouping::parse(text); }, {"is not a grouping", "module:LEVELS"});
  }
  expect_error([] { Grouping::by_pattern({"("}); }, {"'('", "no regular expression"});
  expect_error([] { Grouping::by_pattern({}); }, {"no pattern"});
  expect_error([] { Grouping::by_module(-1); }, {"levels is -1"});
}

}  // namespace
}  // namespace flightdeck::tests

// SPDX-License-Identifier: MIT
// What models are given, read back from their graphs.
#include "quantities/short_loop.h"

namespace flightdeck::tests {
namespace {

namespace nn = torch::nn;

class InputsTest : public SeededTest {
 protected:
  // One step per batch, with cross-entropies of these labels (random ones if there are none).
  std::shared_ptr<MemorySink> watch(nn::Sequential net,
                                    const std::vector<Tensor>& batches,
                                    const Tensor& labels = {}) {
    ShortLoop loop;
    loop.quantities = {quantity("inputs", settings_)};
    loop.parameters = net->named_parameters();
    loop.losses = [=](int64_t step) mutable {
      Tensor outputs = net->forward(batches[step]);
      outputs = outputs.flatten(1);
      const Tensor targets =
          labels.defined() ? labels : random_integers({outputs.size(0)}, outputs.size(1));
      return cross_entropies(outputs, targets);
    };
    loop.told = told_;
    return loop.run(static_cast<int64_t>(batches.size()));
  }

  static double field(const std::shared_ptr<MemorySink>& sink,
                      const std::string& name,
                      int64_t step = 0) {
    return sink->number(step, "inputs", "", name);
  }

  Settings settings_;
  std::function<StepOptions(int64_t)> told_;
};

// Moments, one entry after the other.
void expect_moments(const std::shared_ptr<MemorySink>& sink, const Tensor& inputs) {
  const Tensor flat = inputs.flatten().cpu();
  double sum = 0, squares = 0, low = INFINITY, high = -INFINITY, zeros = 0;
  const auto count = static_cast<double>(flat.numel());
  for (int64_t k = 0; k < flat.numel(); ++k) {
    const double x = number(flat[k]);
    sum += x;
    squares += x * x;
    low = std::min(low, x);
    high = std::max(high, x);
    zeros += x == 0 ? 1 : 0;
  }
  const double mean = sum / count;
  expect_number(sink->number(0, "inputs"), std::sqrt(squares / count), "rms");
  expect_number(sink->number(0, "inputs", "", "mean"), mean, "mean");
  expect_number(sink->number(0, "inputs", "", "deviation"),
                std::sqrt(squares / count - mean * mean),
                "deviation");
  expect_number(sink->number(0, "inputs", "", "low"), low, "low");
  expect_number(sink->number(0, "inputs", "", "high"), high, "high");
  expect_number(sink->number(0, "inputs", "", "zeros"), zeros / count, "zeros");
}

TEST_F(InputsTest, OfALinearLayerAreWhatItWasGiven) {
  const Tensor inputs = random({6, 5}) * 3 + 2;
  inputs[2][3] = 0;
  expect_moments(watch(on_device(nn::Sequential(nn::Linear(5, 3))), {inputs}), inputs);
}

TEST_F(InputsTest, OfAConvolutionAreWhatItWasGiven) {
  const Tensor inputs = random({4, 2, 5, 5});
  auto net = on_device(nn::Sequential(nn::Conv2d(2, 3, 3), nn::ReLU(), nn::Flatten()));
  net->push_back(on_device(nn::Linear(27, 3)));
  expect_moments(watch(net, {inputs}), inputs);
}

TEST_F(InputsTest, OfASequenceAreWhatItWasGiven) {
  const Tensor inputs = random({4, 3, 5});
  expect_moments(watch(on_device(nn::Sequential(nn::Linear(5, 2))), {inputs}), inputs);
}

TEST_F(InputsTest, OfOneSampleHaveNoFeaturesThatVary) {
  const Tensor inputs = random({1, 5});
  const auto sink = watch(on_device(nn::Sequential(nn::Linear(5, 3))), {inputs});
  expect_moments(sink, inputs);
  EXPECT_EQ(sink->find(0, "inputs", "", "constant_features"), nullptr);
}

TEST_F(InputsTest, TellFeaturesApart) {
  const Tensor inputs = random({6, 5});
  inputs.select(1, 1).fill_(4);
  inputs.select(1, 3).mul_(100).add_(50);
  const auto sink = watch(on_device(nn::Sequential(nn::Linear(5, 3))), {inputs});
  expect_number(field(sink, "constant_features"), 1.0 / 5, "constant features");
  const Tensor variances = inputs.var(0, false);
  expect_number(field(sink, "feature_scales"),
                std::sqrt(number(variances.max()) / number(variances.mean())),
                "scales");
  expect_number(
      field(sink, "largest_feature_mean"), number(inputs.mean(0).abs().max()), "largest mean");
}

TEST_F(InputsTest, SaySoIfTheyAreNotFinite) {
  const Tensor inputs = random({4, 5});
  inputs[1][2] = NAN;
  inputs[3][0] = INFINITY;
  const auto sink = watch(on_device(nn::Sequential(nn::Linear(5, 3))), {inputs});
  expect_number(field(sink, "not_finite"), 0.1, "not finite");
}

TEST_F(InputsTest, ThatRepeatAreCounted) {
  const Tensor first = random({6, 5}), second = random({6, 5});
  first[4] = first[1];
  first[5] = first[1];
  second[0] = first[2];
  const Tensor third = second.clone();
  const auto sink =
      watch(on_device(nn::Sequential(nn::Linear(5, 3))), {first, second, third, first});
  expect_number(field(sink, "duplicates", 0), 2.0 / 6, "duplicates");
  EXPECT_EQ(sink->find(0, "inputs", "", "seen_before"), nullptr);
  EXPECT_EQ(field(sink, "duplicates", 1), 0);
  expect_number(field(sink, "seen_before", 1), 1.0 / 6, "seen before");
  EXPECT_EQ(field(sink, "same_batch", 1), 0);
  EXPECT_EQ(field(sink, "seen_before", 2), 1);
  EXPECT_EQ(field(sink, "same_batch", 2), 1);
  EXPECT_EQ(field(sink, "seen_before", 3), 1);
  EXPECT_EQ(field(sink, "same_batch", 3), 0);
}

TEST_F(InputsTest, TellAnotherOrderFromOtherSamples) {
  const Tensor first = random({6, 5});
  const Tensor shuffled = first.flip(0).contiguous();
  // The same features as in the first batch, of other samples.
  Tensor exchanged = first.clone();
  exchanged.select(1, 2).copy_(first.select(1, 2).flip(0));
  const auto sink = watch(on_device(nn::Sequential(nn::Linear(5, 3))),
                          {first, first.clone(), shuffled, exchanged});
  const auto hash = [&](const char* name, int64_t step) { return field(sink, name, step); };
  EXPECT_EQ(hash("batch_hash", 1), hash("batch_hash", 0));
  EXPECT_EQ(hash("set_hash", 1), hash("set_hash", 0));
  EXPECT_NE(hash("batch_hash", 2), hash("batch_hash", 0));
  EXPECT_EQ(hash("set_hash", 2), hash("set_hash", 0));
  EXPECT_NE(hash("batch_hash", 3), hash("batch_hash", 0));
  EXPECT_NE(hash("set_hash", 3), hash("set_hash", 0));
  for (const char* name : {"batch_hash", "set_hash"}) {
    EXPECT_EQ(hash(name, 0), std::floor(hash(name, 0)));
    EXPECT_GE(hash(name, 0), 0);
    EXPECT_LT(hash(name, 0), 0x1p53);
  }
}

TEST_F(InputsTest, AreForgottenAfterTheWindow) {
  settings_.set("window", 1);
  const Tensor first = random({6, 5});
  const auto sink =
      watch(on_device(nn::Sequential(nn::Linear(5, 3))), {first, random({6, 5}), first});
  EXPECT_EQ(field(sink, "seen_before", 2), 0);
}

TEST_F(InputsTest, OfEveryTypeAreComparedToTheBit) {
  for (const auto type : {at::kFloat, at::kDouble, at::kBFloat16}) {
    const Tensor inputs = (random({6, 5}) * 10).to(type);
    inputs[0][0] = 0.0;
    inputs[3] = inputs[0];
    inputs[3][0] = -0.0;
    inputs[5] = inputs[1];
    const auto net = on_device(nn::Sequential(nn::Linear(5, 3)), type);
    const auto sink = watch(net, {inputs, inputs.clone()});
    expect_number(field(sink, "duplicates"), 2.0 / 6, "duplicates");
    EXPECT_EQ(field(sink, "same_batch", 1), 1);
  }
}

// Whole numbers differ in few bits: those must tell samples apart.
TEST_F(InputsTest, OfZerosAndOnesAreToldApart) {
  std::vector<Tensor> samples;
  for (int k = 0; k < 256; ++k) {
    Tensor bits = at::zeros({16}, doubles());
    for (int b = 0; b < 8; ++b) bits[2 * b] = (k >> b) & 1;
    samples.push_back(bits);
  }
  const auto sink = watch(on_device(nn::Sequential(nn::Linear(16, 3))), {at::stack(samples)});
  EXPECT_EQ(field(sink, "duplicates"), 0);
}

TEST_F(InputsTest, ThatAreEqualUnderTwoLabelsConflict) {
  const Tensor inputs = random({5, 4});
  inputs[3] = inputs[0];
  inputs[4] = inputs[1];
  const Tensor labels = at::tensor({0, 1, 2, 2, 1}, at::kLong).to(test_device());
  const auto sink = watch(on_device(nn::Sequential(nn::Linear(4, 3))), {inputs}, labels);
  expect_number(field(sink, "conflicting_labels"), 1.0 / 5, "conflicts");
  EXPECT_EQ(field(sink, "label_low"), 0);
  EXPECT_EQ(field(sink, "label_high"), 2);
  EXPECT_EQ(field(sink, "label_classes"), 3);
  expect_number(field(sink, "label_largest"), 2.0 / 5, "largest class");
}

// Tells whether LibTorch itself lets such targets of probabilities through. Later versions refuse
// them, and on a GPU an assertion ends the process.
bool takes_any_probability(const Tensor& targets) {
  if (!targets.is_cpu()) return false;
  try {
    at::binary_cross_entropy(at::full_like(targets, 0.5), targets);
    return true;
  } catch (const c10::Error&) {
    return false;
  }
}

// Losses of a net whose targets any number may be.
TEST_F(InputsTest, HaveLabelsThatABinaryCrossEntropyDoesNotHave) {
  const Tensor targets = at::tensor({0.0, 2.0, 1.0, -0.5}, doubles()).view({4, 1});
  for (const bool has_sigmoid_inside : {true, false}) {
    if (!has_sigmoid_inside && !takes_any_probability(targets)) continue;
    auto net = on_device(nn::Sequential(nn::Linear(3, 1)));
    const Tensor inputs = random({4, 3});
    ShortLoop loop;
    loop.quantities = {quantity("inputs")};
    loop.parameters = net->named_parameters();
    loop.losses = [=](int64_t) mutable {
      const Tensor outputs = net->forward(inputs);
      const auto none = at::Reduction::None;
      const Tensor losses =
          has_sigmoid_inside ? at::binary_cross_entropy_with_logits(outputs, targets, {}, {}, none)
                             : at::binary_cross_entropy(outputs.sigmoid(), targets, {}, none);
      return losses.squeeze(1);
    };
    const auto sink = loop.run(1);
    EXPECT_EQ(field(sink, "labels_outside"), 0.5);
    EXPECT_EQ(field(sink, "label_low"), -0.5);
    EXPECT_EQ(field(sink, "label_high"), 2);
  }
}

TEST_F(InputsTest, HaveLabelsBeyondTheClassesWhereTheLossLetsThemThrough) {
  const Tensor labels = at::tensor({0, 3, -100, 1, 2}, at::kLong).to(test_device());
  const Tensor inputs = random({5, 4});
  auto net = on_device(nn::Sequential(nn::Linear(4, 3)));
  ShortLoop loop;
  loop.quantities = {quantity("inputs")};
  loop.parameters = net->named_parameters();
  loop.losses = [=](int64_t) mutable {
    const Tensor one_hot =
        (labels.unsqueeze(1) == at::arange(3, labels.options()).unsqueeze(0)).to(at::kDouble);
    return -(at::log_softmax(net->forward(inputs), 1) * one_hot).sum(1);
  };
  loop.told = [labels](int64_t) {
    StepOptions told;
    told.labels = labels;
    return told;
  };
  EXPECT_DOUBLE_EQ(field(loop.run(1), "labels_outside"), 0.2);
}

TEST_F(InputsTest, OfACrossEntropyAreNotAskedForTheirClassesAgain) {
  const Tensor labels = at::tensor({0, 1, 2, 2, 1}, at::kLong).to(test_device());
  const auto sink = watch(on_device(nn::Sequential(nn::Linear(4, 3))), {random({5, 4})}, labels);
  EXPECT_EQ(sink->find(0, "inputs", "", "labels_outside"), nullptr);
}

TEST_F(InputsTest, OfAnEmbeddingMayBeTheSameInAPlace) {
  const Tensor tokens = at::tensor({3, 1, 4, 1, 1, 9}, at::kLong).view({2, 3}).to(test_device());
  auto net = on_device(nn::Sequential(nn::Embedding(10, 4), nn::Flatten(), nn::Linear(12, 3)));
  expect_number(field(watch(net, {tokens}), "constant_features"), 1.0 / 3, "constant features");
}

TEST_F(InputsTest, OfAnEmbeddingAreItsIndices) {
  const Tensor tokens = at::tensor({3, 1, 4, 1, 5, 9}, at::kLong).view({2, 3}).to(test_device());
  auto net = on_device(nn::Sequential(nn::Embedding(10, 4), nn::Flatten(), nn::Linear(12, 3)));
  const auto sink = watch(net, {tokens});
  EXPECT_EQ(field(sink, "low"), 1);
  EXPECT_EQ(field(sink, "high"), 9);
  EXPECT_EQ(field(sink, "distinct"), 5);
  EXPECT_EQ(field(sink, "samples"), 2);
  EXPECT_EQ(field(sink, "constant_features"), 0);
  EXPECT_EQ(field(sink, "duplicates"), 0);
  EXPECT_EQ(sink->find(0, "inputs", "", "mean"), nullptr);
}

TEST_F(InputsTest, ThatAreToldComeFirst) {
  const Tensor raw = random({6, 7});
  told_ = [raw](int64_t) {
    StepOptions told;
    told.inputs = raw;
    return told;
  };
  expect_moments(watch(on_device(nn::Sequential(nn::Linear(5, 3))), {random({6, 5})}), raw);
}

TEST_F(InputsTest, ThatAreToldWronglyAreRefused) {
  told_ = [](int64_t) {
    StepOptions told;
    told.inputs = random({5, 7});
    return told;
  };
  EXPECT_THROW(watch(on_device(nn::Sequential(nn::Linear(5, 3))), {random({6, 5})}), c10::Error);
}

TEST_F(InputsTest, ThatTheGraphDoesNotShowAreSaidToBeUnknown) {
  const Tensor parameter = random_parameter({3});
  ShortLoop loop;
  loop.quantities = {quantity("inputs")};
  loop.parameters = ParameterList().add("w", parameter);
  loop.losses = [parameter](int64_t) { return losses_of(parameter.expand({4, 3}).square()); };
  const auto sink = loop.run(1);
  EXPECT_EQ(sink->find(0, "inputs"), nullptr);
  ASSERT_EQ(remarks_of(*sink, "inputs").size(), 1u);
  EXPECT_EQ(remarks_of(*sink, "inputs")[0].find("the inputs are not in the graph"), 0u);
}

}  // namespace
}  // namespace flightdeck::tests

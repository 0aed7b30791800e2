// SPDX-License-Identifier: MIT
// Logits, margins and targets of classifiers against loops over rows.
#include "quantities/short_loop.h"

namespace flightdeck::tests {
namespace {

namespace nn = torch::nn;

struct Rows {
  Tensor logits;   // [M, C]
  Tensor targets;  // [M]
  int64_t ignore_index = -100;
};

double field(const std::shared_ptr<MemorySink>& sink, const std::string& name) {
  return sink->number(0, "logits", "", name);
}

// What the quantity should tell of these rows.
struct LogitFacts {
  double squares = 0, largest = 0, entropy = 0, confidence = 0, margin = 0, correct = 0;
  double partition = 0, smallest = INFINITY, counted = 0;
  std::map<int64_t, double> of_target, of_prediction, of_gradient;

  // `z` are the logits of one row; `is_target` is false where its target is to be ignored.
  void add(const std::vector<double>& z, int64_t target, bool is_target) {
    const auto C = static_cast<int64_t>(z.size());
    double mean = 0, sum = 0;
    for (const double one : z) {
      mean += one / static_cast<double>(C);
      sum += std::exp(one);
    }
    const double log_sum = std::log(sum);
    partition += log_sum;
    double most = 0;
    for (const double one : z) {
      squares += (one - mean) * (one - mean);
      largest = std::max(largest, std::abs(one - mean));
      const double p = std::exp(one - log_sum);
      entropy -= p * (one - log_sum);
      most = std::max(most, p);
    }
    confidence += most;
    const int64_t predicted = std::max_element(z.begin(), z.end()) - z.begin();
    of_prediction[predicted] += 1;
    if (!is_target) return;
    counted += 1;
    of_target[target] += 1;
    double pull = 0, other = -INFINITY;
    for (int64_t c = 0; c < C; ++c) {
      const double p = std::exp(z[c] - log_sum);
      pull += (p - (c == target ? 1 : 0)) * (p - (c == target ? 1 : 0));
      if (c != target) other = std::max(other, z[c]);
    }
    of_gradient[target] += std::sqrt(pull);
    margin += z[target] - other;
    smallest = std::min(smallest, z[target] - other);
    correct += predicted == target ? 1 : 0;
  }
};

double most_of(const std::map<int64_t, double>& counts) {
  double most = 0;
  for (const auto& [name, count] : counts) most = std::max(most, count);
  return most;
}

void expect_facts(const std::shared_ptr<MemorySink>& sink, const Rows& rows) {
  const int64_t M = rows.logits.size(0), C = rows.logits.size(1);
  LogitFacts facts;
  for (int64_t m = 0; m < M; ++m) {
    std::vector<double> z(C);
    for (int64_t c = 0; c < C; ++c) z[c] = number(rows.logits[m][c]);
    const auto target = rows.targets[m].item<int64_t>();
    facts.add(z, target, target != rows.ignore_index);
  }
  const auto count = static_cast<double>(M);
  const double counted = facts.counted;
  expect_number(sink->number(0, "logits"),
                std::sqrt(facts.squares / count / static_cast<double>(C)),
                "deviation");
  expect_number(field(sink, "largest"), facts.largest, "largest");
  expect_number(field(sink, "entropy"), facts.entropy / count, "entropy");
  expect_number(field(sink, "confidence"), facts.confidence / count, "confidence");
  expect_number(field(sink, "margin"), facts.margin / counted, "margin");
  expect_number(field(sink, "margin_smallest"), facts.smallest, "smallest margin");
  expect_number(field(sink, "accuracy"), facts.correct / counted, "accuracy");
  expect_number(field(sink, "ignored"), 1 - counted / count, "ignored");
  EXPECT_EQ(field(sink, "targets"), count);
  expect_number(field(sink, "log_partition"), facts.partition / count, "log partition", 1e-7);
  EXPECT_EQ(field(sink, "classes"), static_cast<double>(C));
  expect_number(field(sink, "uniform_loss"), std::log(static_cast<double>(C)), "uniform loss");
  EXPECT_EQ(field(sink, "target_classes"), static_cast<double>(facts.of_target.size()));
  expect_number(
      field(sink, "target_largest"), most_of(facts.of_target) / counted, "commonest target");
  double pulls = 0;
  for (const auto& [target, pull] : facts.of_gradient) pulls += pull;
  expect_number(field(sink, "gradient_largest"),
                most_of(facts.of_gradient) / pulls,
                "class with most gradient");
  EXPECT_EQ(field(sink, "predicted_classes"), static_cast<double>(facts.of_prediction.size()));
  expect_number(field(sink, "predicted_largest"),
                most_of(facts.of_prediction) / count,
                "commonest prediction");
}

class LogitsTest : public SeededTest {
 protected:
  static std::shared_ptr<MemorySink> watch(const Parameters& parameters,
                                           const std::function<Tensor()>& losses) {
    ShortLoop loop;
    loop.quantities = {quantity("logits")};
    loop.parameters = parameters;
    loop.losses = [&](int64_t) { return losses(); };
    return loop.run(1);
  }
};

TEST_F(LogitsTest, OfAClassifierAreThoseOfItsRows) {
  for (const bool has_bias : {true, false}) {
    auto net = on_device(nn::Sequential(
        nn::Linear(5, 6), nn::ReLU(), nn::Linear(nn::LinearOptions(6, 4).bias(has_bias))));
    const Tensor inputs = random({9, 5}) * 2, labels = random_integers({9}, 4);
    const auto sink = watch(net->named_parameters(),
                            [&] { return cross_entropies(net->forward(inputs), labels); });
    expect_facts(sink, {net->forward(inputs).detach(), labels});
  }
}

TEST_F(LogitsTest, OfTokensLeaveIgnoredOnesOut) {
  auto net = on_device(nn::Sequential(nn::Linear(5, 7)));
  const Tensor inputs = random({3, 4, 5}), labels = random_integers({3, 4}, 7);
  labels[1][2] = -100;
  labels[2][0] = -100;
  labels[2][1] = -100;
  const auto sink = watch(net->named_parameters(), [&] {
    const Tensor flat = net->forward(inputs).view({12, 7});
    return at::cross_entropy_loss(flat, labels.flatten(), {}, at::Reduction::None)
        .view({3, 4})
        .sum(1);
  });
  expect_facts(sink, {net->forward(inputs).detach().view({12, 7}), labels.flatten()});
  expect_number(field(sink, "ignored"), 0.25, "ignored");
  EXPECT_EQ(sink->find(0, "logits", "", "reduction_weight"), nullptr);
}

TEST_F(LogitsTest, OfImagesCountEveryPosition) {
  auto net = on_device(nn::Sequential(nn::Conv2d(2, 3, 1)));
  const Tensor inputs = random({4, 2, 3, 2}), labels = random_integers({4, 3, 2}, 3);
  const auto sink = watch(net->named_parameters(), [&] {
    return at::cross_entropy_loss(net->forward(inputs), labels, {}, at::Reduction::None)
        .mean(at::IntArrayRef({1, 2}));
  });
  const Tensor logits = net->forward(inputs).detach().movedim(1, -1).reshape({-1, 3});
  EXPECT_EQ(sink->find(0, "logits", "", "log_partition"), nullptr);
  expect_number(field(sink, "accuracy"),
                number((logits.argmax(1) == labels.flatten()).to(at::kDouble).mean()),
                "accuracy");
  expect_number(sink->number(0, "logits"),
                std::sqrt(number((logits - logits.mean(1, true)).square().mean())),
                "deviation");
}

TEST_F(LogitsTest, OfSoftLabelsHaveNoTargets) {
  auto net = on_device(nn::Sequential(nn::Linear(5, 4)));
  const Tensor inputs = random({6, 5});
  const Tensor soft = at::softmax(random({6, 4}), 1);
  const auto sink = watch(net->named_parameters(), [&] {
    return (at::log_softmax(net->forward(inputs), 1) * soft).sum(1).neg();
  });
  EXPECT_EQ(sink->find(0, "logits", "", "margin"), nullptr);
  EXPECT_GT(sink->number(0, "logits"), 0);
}

TEST_F(LogitsTest, OfARegressionThereAreNone) {
  auto net = on_device(nn::Sequential(nn::Linear(5, 4)));
  const auto sink = watch(net->named_parameters(), [&] {
    return losses_of(net->forward(random({6, 5})));
  });
  EXPECT_EQ(sink->find(0, "logits"), nullptr);
  EXPECT_EQ(remarks_of(*sink, "logits").size(), 1u);
}

}  // namespace
}  // namespace flightdeck::tests

// SPDX-License-Identifier: MIT
// Rows that outlive their pass: dots with directions that are known only after the update.
#include "errors.h"
#include "oracle.h"
#include "passes/small_models.h"

namespace flightdeck::tests {
namespace {

class KeptFactors : public SmallModelTest {
 protected:
  Tensor expected_dots(const std::vector<int64_t>& samples, const std::vector<Tensor>& directions) {
    const Oracle oracle = differentiate(losses(), parameters()).select(samples);
    Tensor total;
    for (size_t p = 0; p < directions.size(); ++p) {
      const Tensor dots = textbook_answers(oracle.individual[p], directions[p]).dots;
      total = total.defined() ? total + dots : dots;
    }
    return total;
  }

  GradientOptions keeping() const {
    GradientOptions options;
    options.keep_rows = true;
    return options;
  }
};

TEST_P(KeptFactors, AnswerDotsAfterTheGraphIsFreed) {
  const std::vector<Tensor> directions = random_directions(parameters(), 3);
  const Tensor expected = expected_dots({}, directions);
  for (const bool is_weighted : {false, true}) {
    std::shared_ptr<const KeptRows> rows;
    {
      const Tensor watched = losses();
      Watch watch(watched, parameters(), {}, keeping());
      (is_weighted ? (watched * weights()).sum() : watched.mean()).backward();
      rows = watch.finish().rows;
    }
    expect_close(rows->dots(directions), expected, is_weighted ? "weighted" : "mean");
  }
}

TEST_P(KeptFactors, AnswerDotsOfAnOwnPassAndOfChosenSamples) {
  const std::vector<Tensor> directions = random_directions(parameters(), 1);
  for (const std::vector<int64_t>& samples :
       {std::vector<int64_t>(), std::vector<int64_t>{losses().size(0) - 1, 0}}) {
    if (samples.size() > 1 && losses().size(0) == 1) continue;
    const Gradients answers =
        gradients(Batch(losses(), parameters()).of(samples), Need::kNorms, keeping());
    expect_close(answers.rows->dots(directions), expected_dots(samples, directions), "dots");
  }
}

TEST_P(KeptFactors, DoNotSeeUpdatesInPlace) {
  const std::vector<Tensor> directions = random_directions(parameters(), 2);
  const Tensor watched = losses();
  GradientOptions options = keeping();
  options.histograms = {Bins()};
  Watch watch(watched, parameters(), Need::kNorms, options);
  watched.mean().backward();
  const Gradients answers = watch.finish();
  const Tensor before = answers.rows->dots(directions);
  std::vector<Tensor> tensors;
  for (const auto& [name, tensor] : parameters()) tensors.push_back(tensor);
  torch::optim::SGD sgd(tensors, torch::optim::SGDOptions(10.0).momentum(0.9));
  sgd.step();
  EXPECT_TRUE(answers.rows->dots(directions).equal(before));
  const torch::NoGradGuard guard;
  for (const auto& [name, tensor] : parameters()) {
    tensor.sub_(1.0);
    if (tensor.grad().defined()) tensor.grad().zero_();
  }
  EXPECT_TRUE(answers.rows->dots(directions).equal(before));
}

TEST_P(KeptFactors, AreThereOnlyIfAskedFor) {
  EXPECT_EQ(gradients(losses(), parameters(), Need::kNorms).rows, nullptr);
}

FLIGHTDECK_WITH_SMALL_MODELS(KeptFactors);

class KeptRowsOfOneLayer : public SeededTest {
 protected:
  KeptRowsOfOneLayer() {
    torch::manual_seed(1);
    layer_ = on_device(torch::nn::Linear(4, 3));
    input_ = random({6, 4});
    GradientOptions options;
    options.keep_rows = true;
    rows_ = gradients(losses_of(layer_(input_)), layer_->named_parameters(), {}, options).rows;
    directions_ = random_directions(layer_->named_parameters(), 1);
  }

  torch::nn::Linear layer_ = nullptr;
  Tensor input_;
  std::shared_ptr<const KeptRows> rows_;
  std::vector<Tensor> directions_;
};

TEST_F(KeptRowsOfOneLayer, RefuseToAnswerFromAnInputThatWasOverwritten) {
  EXPECT_NO_THROW(rows_->dots(directions_));
  input_.mul_(2);
  const std::string message = error_of([&] { rows_->dots(directions_); });
  EXPECT_NE(message.find("modified in place"), std::string::npos) << message;
}

TEST_F(KeptRowsOfOneLayer, RefuseDirectionsOfTheWrongShape) {
  EXPECT_THROW(rows_->dots({directions_[0]}), c10::ValueError);
  EXPECT_THROW(rows_->dots({directions_[0], directions_[1][0]}), c10::ValueError);
}

}  // namespace
}  // namespace flightdeck::tests

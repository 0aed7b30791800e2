// SPDX-License-Identifier: MIT
// Losses the engine does not know, and input that no curvature can be computed from: the error
// names the thing and the remedy, or a remark says what was done instead.
#include <limits>

#include "curvature/dense_oracle.h"
#include "curvature/models.h"
#include "errors.h"
#include "oracle.h"

namespace flightdeck::tests {
namespace {

namespace nn = torch::nn;

constexpr int64_t kFewSamples = 5;

bool mentions(const std::vector<std::string>& remarks, const std::string& word) {
  for (const std::string& remark : remarks) {
    if (remark.find(word) != std::string::npos) return true;
  }
  return false;
}

class CurvatureOfUnknownLoss : public SeededTest {
 protected:
  void SetUp() override {
    SeededTest::SetUp();
    net_ = on_device(nn::Sequential(nn::Linear(3, 4), nn::Sigmoid(), nn::Linear(4, 2)));
    outputs_ = net_->forward(random({kFewSamples, 3}));
  }

  Parameters parameters() const { return net_->named_parameters(); }
  Tensor mixed_losses() const { return outputs_.cosh().sum(1) + outputs_.prod(1); }
  // The second derivative of a cosine has both signs over outputs of this size.
  Tensor wavy_losses() const { return (4.0 * outputs_).cos().sum(1); }

  Batch with_outputs(const Tensor& losses) const {
    BatchOptions options;
    options.outputs = outputs_;
    return {losses, parameters(), options};
  }

  nn::Sequential net_ = nullptr;
  Tensor outputs_;
};

TEST_F(CurvatureOfUnknownLoss, AsksForTheOutputs) {
  const Tensor losses = mixed_losses();
  for (CurvatureNeed need : {CurvatureNeed::kDiagGgn, CurvatureNeed::kDiagGgnMc}) {
    expect_mentions(error_of([&] { return curvature(losses, parameters(), need); }), {"outputs"});
  }
  expect_mentions(
      error_of([&] { return curvature_operator(losses, parameters(), CurvatureKind::kGgn); }),
      {"outputs"});
  expect_mentions(error_of([&] { Vivit vivit(losses, parameters()); }), {"outputs"});
  EXPECT_NO_THROW(losses.mean().backward());
}

TEST_F(CurvatureOfUnknownLoss, IsTheDenseOneWhenTheOutputsAreNamed) {
  // Only where the losses are convex in the outputs is the GGN itself expected.
  const Tensor losses = outputs_.cosh().sum(1);
  const DenseCurvature dense = dense_curvature(losses, outputs_, parameters());
  const Curvature answers = curvature(with_outputs(losses), CurvatureNeed::kDiagGgn);
  expect_close(answers.concatenated(&ParameterCurvature::diag_ggn),
               dense.ggn().diagonal(),
               "diagonal",
               kCurvatureTolerance);
  const Tensor vectors = random({3, dense.dim()});
  const auto ggn = curvature_operator(with_outputs(losses), CurvatureKind::kGgn);
  expect_close(ggn->multiply(vectors), vectors.matmul(dense.ggn()), "product", kCurvatureTolerance);
  expect_close(Vivit(with_outputs(losses)).gram_eigenvalues().sum(),
               dense.ggn().trace(),
               "trace",
               kCurvatureTolerance);
}

TEST_F(CurvatureOfUnknownLoss, HasAHessianWithoutTheOutputs) {
  const Tensor losses = mixed_losses();
  const DenseCurvature dense = dense_curvature(losses, outputs_, parameters());
  expect_close(curvature(losses, parameters(), CurvatureNeed::kDiagHessian)
                   .concatenated(&ParameterCurvature::diag_hessian),
               dense.hessian().diagonal(),
               "diagonal",
               kCurvatureTolerance);
  const Tensor vectors = random({3, dense.dim()});
  const auto hessian = curvature_operator(losses, parameters(), CurvatureKind::kHessian);
  expect_close(
      hessian->multiply(vectors), vectors.matmul(dense.hessian()), "product", kCurvatureTolerance);
}

TEST_F(CurvatureOfUnknownLoss, KeepsThePositivePartOfItsHessianAndSaysSo) {
  const Tensor losses = wavy_losses();
  DenseCurvature dense = dense_curvature(losses, outputs_, parameters());
  EXPECT_LT(dense.output_hessians.min().item<double>(), 0.0) << "the loss is convex here";
  dense.output_hessians = positive_part(dense.output_hessians);

  const Curvature answers = curvature(with_outputs(losses), CurvatureNeed::kDiagGgn);
  expect_close(answers.concatenated(&ParameterCurvature::diag_ggn),
               dense.ggn().diagonal(),
               "diagonal",
               kCurvatureTolerance);
  EXPECT_TRUE(mentions(answers.remarks, "positive") || mentions(answers.remarks, "convex"));

  const Tensor vectors = random({3, dense.dim()});
  const auto ggn = curvature_operator(with_outputs(losses), CurvatureKind::kGgn);
  expect_close(ggn->multiply(vectors), vectors.matmul(dense.ggn()), "product", kCurvatureTolerance);
  EXPECT_TRUE(mentions(ggn->remarks(), "positive") || mentions(ggn->remarks(), "convex"));
}

TEST_F(CurvatureOfUnknownLoss, HasTheHessianDiagonalEvenWhereItIsNotConvex) {
  const Tensor wavy = wavy_losses();
  const auto expect_dense = [&](const Batch& batch) {
    const DenseCurvature dense = dense_curvature(batch.losses(), outputs_, parameters());
    const Curvature answers = curvature(
        batch,
        CurvatureNeed::kDiagHessian | CurvatureNeed::kTraceHessian | CurvatureNeed::kDiagGgn);
    expect_close(answers.concatenated(&ParameterCurvature::diag_hessian),
                 dense.hessian().diagonal(),
                 "diagonal",
                 kCurvatureTolerance);
    expect_close(
        answers.total.trace_hessian, dense.hessian().trace(), "trace", kCurvatureTolerance);
  };
  expect_dense(with_outputs(wavy));
  // Rewards of both signs make a cross-entropy concave for some samples.
  const Tensor rewards = random({kFewSamples});
  const Tensor losses = rewards * cross_entropies(outputs_, random_integers({kFewSamples}, 2));
  expect_dense(Batch(losses, parameters()));
}

TEST_F(CurvatureOfUnknownLoss, WithParametersPastTheOutputsIsRefused) {
  const Tensor scale = random_parameter({2});
  const Tensor losses = mixed_losses() + (outputs_ * scale).sum(1);
  const Parameters all = ParameterList().add("net", net_).add("scale", scale);
  BatchOptions said;
  said.outputs = outputs_;
  expect_mentions(
      error_of([&] { return curvature(Batch(losses, all, said), CurvatureNeed::kDiagGgn); }),
      {"past options.outputs", "4"});
}

TEST_F(CurvatureOfUnknownLoss, BetweenTwoOutputsAsksForTheOutputs) {
  const Tensor losses = mean_squared_errors(outputs_, net_->forward(random({kFewSamples, 3})));
  expect_mentions(
      error_of([&] { return curvature(losses, parameters(), CurvatureNeed::kDiagGgn); }),
      {"BatchOptions::outputs"});
}

TEST_F(CurvatureOfUnknownLoss, IsFoundWithTheArgumentsOfASquaredErrorSwapped) {
  const Tensor losses = mean_squared_errors(random({kFewSamples, 2}), outputs_);
  const DenseCurvature dense = dense_curvature(losses, outputs_, parameters());
  const Curvature answers = curvature(losses, parameters(), CurvatureNeed::kDiagGgn);
  expect_close(answers.concatenated(&ParameterCurvature::diag_ggn),
               dense.ggn().diagonal(),
               "diagonal",
               kCurvatureTolerance);
}

// Known losses in the words of people who write them by hand.
TEST_F(CurvatureOfUnknownLoss, IsKnownWhenWrittenByHand) {
  const Tensor targets = random({kFewSamples, 2}),
               labels = random_integers({kFewSamples}, 2).unsqueeze(1);
  const Tensor d = outputs_ - targets, weights = random({kFewSamples}).abs();
  const auto pick = [&](const Tensor& t) { return t.gather(1, labels).squeeze(1); };
  const std::vector<std::pair<const char*, Tensor>> all = {
      {"d * d", (d * d).sum(1)},
      {"weighted d * d", weights * (d * d).mean(1)},
      {"logsumexp - pick", outputs_.logsumexp(1) - pick(outputs_)},
      {"logsumexp with keepdim", (outputs_.logsumexp(1, true) - outputs_).gather(1, labels).sum(1)},
      {"weighted logsumexp", weights * (outputs_.logsumexp(-1) - pick(outputs_))},
      {"log of softmax", -pick(outputs_.softmax(1).log())},
      {"soft labels", -(targets.softmax(1) * outputs_.softmax(-1).log()).sum(1)}};
  for (const auto& [name, losses] : all) {
    const DenseCurvature dense = dense_curvature(losses, outputs_, parameters());
    const Curvature answers =
        curvature(losses, parameters(), CurvatureNeed::kDiagGgn | CurvatureNeed::kDiagHessian);
    expect_close(answers.concatenated(&ParameterCurvature::diag_ggn),
                 dense.ggn().diagonal(),
                 name,
                 kCurvatureTolerance);
    EXPECT_FALSE(mentions(answers.remarks, "differentiating twice")) << name;
    const Tensor v = random({1, dense.ggn().size(0)});
    const auto ggn = curvature_operator(losses, parameters(), CurvatureKind::kGgn);
    expect_close(ggn->multiply(v), v.mm(dense.ggn()), name, kCurvatureTolerance);
  }
}

TEST_F(CurvatureOfUnknownLoss, IsBlamedAndNotTheModel) {
  const auto blamed = [&](const Tensor& losses) {
    return error_of([&] { return curvature(losses, parameters(), CurvatureNeed::kDiagGgn); });
  };
  // Linear in the outputs too: the last layer is reached beside the op that is not known.
  expect_mentions(blamed(outputs_.cosh().sum(1) - outputs_.select(1, 0)),
                  {"CoshBackward0", "BatchOptions::outputs"});
  expect_mentions(blamed(outputs_.select(1, 0) + outputs_.cosh().sum(1)), {"CoshBackward0"});
}

TEST_F(CurvatureOfUnknownLoss, ThatReordersTheSamplesIsRefusedByTheOp) {
  const Tensor losses = mean_squared_errors(outputs_, random({kFewSamples, 2}));
  const Tensor order = torch::tensor({3, 1, 4, 0, 2}, torch::kLong).to(losses.device());
  const std::vector<std::pair<const char*, Tensor>> all = {
      {"FlipBackward0", losses.flip(0)},
      {"IndexSelectBackward0", losses.index_select(0, order)},
      {"RollBackward0", losses.roll(1, 0)}};
  for (const auto& [op, reordered] : all) {
    for (const Batch& batch : {Batch(reordered, parameters()), with_outputs(reordered)}) {
      const std::string error = error_of([&] { return curvature(batch, CurvatureNeed::kDiagGgn); });
      expect_mentions(error, {op, "reorders or mixes", "inputs and labels"});
    }
  }
}

// ---- options and graphs
// --------------------------------------------------------------------------

class BadCurvatureInput : public SeededTest {
 protected:
  void SetUp() override {
    SeededTest::SetUp();
    net_ = on_device(nn::Sequential(nn::Linear(3, 4), nn::Sigmoid(), nn::Linear(4, 3)));
    losses_ =
        cross_entropies(net_->forward(random({kFewSamples, 3})), random_integers({kFewSamples}, 3));
  }

  Parameters parameters() const { return net_->named_parameters(); }

  // The graph must still serve the user after an error, and `.grad` must be untouched by it.
  void expect_graph_intact() {
    for (const Tensor& gradient : gradients_of(parameters())) EXPECT_FALSE(gradient.defined());
    EXPECT_NO_THROW(losses_.mean().backward());
  }

  nn::Sequential net_ = nullptr;
  Tensor losses_;  // [N]
};

TEST_F(BadCurvatureInput, ZeroDrawsAreRefused) {
  CurvatureOptions options;
  options.mc_samples = 0;
  for (CurvatureNeed need : {CurvatureNeed::kDiagGgnMc, CurvatureNeed::kKfac}) {
    expect_mentions(error_of([&] { return curvature(losses_, parameters(), need, options); }),
                    {"mc_samples", "0"});
  }
  expect_graph_intact();
}

TEST_F(BadCurvatureInput, SamplesOutOfRangeAreRefused) {
  for (int64_t sample : {int64_t{7}, int64_t{-2}}) {
    const std::vector<std::string> words = {
        "sample", std::to_string(sample), std::to_string(kFewSamples)};
    const Batch batch = Batch(losses_, parameters()).of({0, sample});
    expect_mentions(error_of([&] { return curvature(batch, CurvatureNeed::kDiagGgn); }), words);
    expect_mentions(error_of([&] { return curvature_operator(batch, CurvatureKind::kGgn); }),
                    words);
    expect_mentions(error_of([&] { return Vivit(batch); }), words);
  }
  expect_graph_intact();
}

TEST_F(BadCurvatureInput, GroupsOutOfRangeAreRefused) {
  ProductOptions products;
  products.groups = {{0, 9}};
  const auto make = [&] {
    return curvature_operator(losses_, parameters(), CurvatureKind::kGgn, products);
  };
  expect_mentions(error_of(make), {"9", "4"});
  VivitOptions vivit;
  vivit.groups = {{0, 9}};
  expect_mentions(error_of([&] { return Vivit(losses_, parameters(), vivit); }), {"9", "4"});
  expect_graph_intact();
}

TEST_F(BadCurvatureInput, VectorsOfWrongLengthAreRefused) {
  const auto ggn = curvature_operator(losses_, parameters(), CurvatureKind::kGgn);
  expect_mentions(error_of([&] {
                    ggn->multiply(random({2, 7}));
                  }),
                  {"7", std::to_string(entries_of(parameters()))});
  expect_graph_intact();
}

TEST_F(BadCurvatureInput, LossesWhoseGraphWasFreedAreRefused) {
  losses_.mean().backward();
  const std::vector<Tensor> before = gradients_of(parameters());
  const std::vector<std::string> words = {"freed", "retain_graph|before"};
  expect_mentions(
      error_of([&] { return curvature(losses_, parameters(), CurvatureNeed::kDiagGgn); }), words);
  const auto multiply = [&] {
    const Tensor vectors = random({1, entries_of(parameters())});
    curvature_operator(losses_, parameters(), CurvatureKind::kGgn)->multiply(vectors);
  };
  expect_mentions(error_of(multiply), words);
  expect_mentions(error_of([&] { return Vivit(losses_, parameters()).gram(); }), words);
  EXPECT_TRUE(identical(gradients_of(parameters()), before));
}

TEST_F(BadCurvatureInput, OneScalarOfTwoSizesAsksForTheBatchSize) {
  const Tensor loss = losses_.mean() + losses_.slice(0, 0, 2).sum();
  expect_mentions(error_of([&] { return curvature(loss, parameters(), CurvatureNeed::kDiagGgn); }),
                  {"loss", "batch_size"});
  expect_graph_intact();
}

TEST_F(BadCurvatureInput, TooLargeBackpropagatedMatrixIsRefused) {
  BatchOptions options;
  options.memory.matrix_bytes = 64;
  const Batch batch(losses_, parameters(), options);
  expect_mentions(error_of([&] { return averaged_blocks(batch); }), {"matrix_bytes", "64"});
  expect_graph_intact();
}

TEST_F(BadCurvatureInput, TrainingModeBatchNormIsRefusedByName) {
  auto norm = on_device(nn::BatchNorm1d(3));
  const Tensor outputs = norm(net_->forward(random({kFewSamples, 3})));
  const Tensor losses = cross_entropies(outputs, random_integers({kFewSamples}, 3));
  const Parameters all = ParameterList().add("net", net_).add("norm", norm);
  const std::vector<std::string> words = {"norm", "kConstantStatistics"};
  expect_mentions(error_of([&] { return curvature(losses, all, CurvatureNeed::kDiagGgn); }), words);
  expect_mentions(error_of([&] { Vivit vivit(losses, all); }), words);
  EXPECT_NO_THROW(losses.mean().backward());
}

TEST_F(BadCurvatureInput, SplitGradientsOfBatchNormHaveNoCurvature) {
  auto norm = on_device(nn::BatchNorm1d(3));
  const Tensor outputs = norm(net_->forward(random({kFewSamples, 3})));
  const Tensor losses = cross_entropies(outputs, random_integers({kFewSamples}, 3));
  BatchOptions options;
  options.batch_norm = BatchNormPolicy::kSplitGradient;
  const Batch split(losses, parameters(), options);
  expect_mentions(error_of([&] { return curvature(split, CurvatureNeed::kDiagGgn); }),
                  {"kSplitGradient", "kConstantStatistics"});
  options.batch_norm = BatchNormPolicy::kConstantStatistics;
  const Batch held(losses, parameters(), options);
  expect_mentions(error_of([&] { return curvature(held, CurvatureNeed::kDiagHessian); }),
                  {"statistics", "GGN"});
}

TEST_F(BadCurvatureInput, ScalarLossIsNotTakenApartForTheSlowHessian) {
  auto cell = on_device(nn::Linear(3, 3));
  const Tensor x = random({kFewSamples, 3});
  const Tensor outputs = cell(cell(x).tanh());
  const Tensor losses = cross_entropies(outputs, random_integers({kFewSamples}, 3));
  BatchOptions options;
  options.batch_size = kFewSamples;
  const Batch batch(losses.mean(), cell->named_parameters(), options);
  expect_mentions(error_of([&] { return curvature(batch, CurvatureNeed::kDiagHessianPerSample); }),
                  {"scalar", "individual losses"});
  EXPECT_NO_THROW(static_cast<void>(curvature(batch, CurvatureNeed::kDiagHessian)));
}

TEST_F(BadCurvatureInput, AveragedRecursionRefusesAWeightUsedTwice) {
  auto cell = on_device(nn::Linear(3, 3));
  const Tensor outputs = cell(cell(random({kFewSamples, 3})).tanh());
  const Tensor losses = cross_entropies(outputs, random_integers({kFewSamples}, 3));
  expect_mentions(
      error_of([&] { return curvature(losses, cell->named_parameters(), CurvatureNeed::kKfra); }),
      {"several places", "KFLR"});
}

TEST_F(BadCurvatureInput, AveragedRecursionRefusesOutputsThatAreTooMany) {
  BatchOptions options;
  options.memory.matrix_bytes = 64;  // 3 x 3 doubles take 72
  const Batch batch(losses_, parameters(), options);
  expect_mentions(error_of([&] { return curvature(batch, CurvatureNeed::kKfra); }),
                  {"kfra", "3 x 3", "72", "64", "matrix_bytes"});
  expect_graph_intact();
}

TEST_F(BadCurvatureInput, TrivialDirectionsNeedDamping) {
  const Vivit vivit(losses_, parameters());
  expect_mentions(error_of([&] { return vivit.newton_step(at::zeros({1}, doubles()), -1, true); }),
                  {"damping", "0"});
}

TEST_F(BadCurvatureInput, NonFiniteLossesGiveNonFiniteAnswers) {
  Tensor inputs = random({kFewSamples, 3});
  inputs[1][2] = std::numeric_limits<double>::quiet_NaN();
  const Tensor losses = cross_entropies(net_->forward(inputs), random_integers({kFewSamples}, 3));
  const Curvature answers = curvature(
      losses,
      parameters(),
      CurvatureNeeds(CurvatureNeed::kDiagGgn) | CurvatureNeed::kDiagGgnMc | CurvatureNeed::kKfac);
  EXPECT_TRUE(answers.parameters[0].diag_ggn.isnan().any().item<bool>());
  EXPECT_TRUE(answers.parameters[0].diag_ggn_mc.isnan().any().item<bool>());
  const Vivit vivit(losses, parameters());
  EXPECT_TRUE(vivit.gram_eigenvalues().isnan().any().item<bool>());
  const auto hessian = curvature_operator(losses, parameters(), CurvatureKind::kHessian);
  EXPECT_FALSE(eigenpairs(*hessian).all_converged());
}

TEST(FactorsOfTransposedConvolutions, AreLeftOut) {
  auto conv = on_device(nn::ConvTranspose2d(nn::ConvTranspose2dOptions(2, 3, 2)));
  const Tensor outputs = conv(random({kFewSamples, 2, 3, 3})).flatten(1);
  const Tensor losses = cross_entropies(outputs, random_integers({kFewSamples}, 3));
  const Parameters own = conv->named_parameters();
  const Curvature answers = curvature(losses, own, CurvatureNeed::kKflr | CurvatureNeed::kDiagGgn);
  EXPECT_FALSE(answers.at("weight").kflr.defined());
  EXPECT_TRUE(answers.at("bias").kflr.defined());
  const DenseCurvature dense = dense_curvature(losses, outputs, own);
  expect_close(answers.concatenated(&ParameterCurvature::diag_ggn),
               dense.ggn().diagonal(),
               "diagonal",
               kCurvatureTolerance);
}

// ---- ops without a rule
// --------------------------------------------------------------------------

// An op of the user's own. Its backward can be differentiated again.
struct Cube : public torch::autograd::Function<Cube> {
  static Tensor forward(torch::autograd::AutogradContext* context, const Tensor& x) {
    context->save_for_backward({x});
    return x * x * x;
  }
  static std::vector<Tensor> backward(torch::autograd::AutogradContext* context,
                                      std::vector<Tensor> cotangents) {
    const Tensor x = context->get_saved_variables()[0];
    return {3.0 * x * x * cotangents[0]};
  }
};

class HessianBelowAnUnknownOp : public SeededTest {
 protected:
  void SetUp() override {
    SeededTest::SetUp();
    layer_ = on_device(nn::Linear(2, 3));
    outputs_ = Cube::apply(layer_(random({kFewSamples, 2})));
    losses_ = cross_entropies(outputs_, random_integers({kFewSamples}, 3));
  }

  nn::Linear layer_ = nullptr;
  Tensor outputs_, losses_;
};

TEST_F(HessianBelowAnUnknownOp, IsStillExact) {
  const Parameters parameters = layer_->named_parameters();
  const DenseCurvature dense = dense_curvature(losses_, outputs_, parameters);
  const Curvature answers = curvature(
      losses_,
      parameters,
      CurvatureNeed::kDiagHessian | CurvatureNeed::kDiagHessianPerSample | CurvatureNeed::kDiagGgn);
  expect_close(answers.concatenated(&ParameterCurvature::diag_hessian),
               dense.hessian().diagonal(),
               "diagonal of the Hessian",
               kCurvatureTolerance);
  expect_close(answers.concatenated(&ParameterCurvature::diag_hessian_per_sample),
               dense.hessians.diagonal(0, 1, 2) / static_cast<double>(kFewSamples),
               "diagonals of the Hessians",
               kCurvatureTolerance);
  expect_close(answers.concatenated(&ParameterCurvature::diag_ggn),
               dense.ggn().diagonal(),
               "diagonal of the GGN",
               kCurvatureTolerance);
}

TEST_F(HessianBelowAnUnknownOp, IsRefusedWhereItHasTooManyEntries) {
  CurvatureOptions options;
  options.max_slow_entries = 8;
  const auto ask = [&] {
    return curvature(losses_, layer_->named_parameters(), CurvatureNeed::kDiagHessian, options);
  };
  // Nine entries, or as many for each of the samples.
  expect_mentions(error_of(ask), {"max_slow_entries", "8", "9|45"});
  EXPECT_NO_THROW(losses_.mean().backward());
}

}  // namespace
}  // namespace flightdeck::tests

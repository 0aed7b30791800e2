// SPDX-License-Identifier: MIT
#include "quantities/watched_run.h"

#include <cmath>

#include "golden/recording.h"
#include "oracle.h"

namespace flightdeck::tests {
namespace {

namespace nn = torch::nn;

FedNet recorded_net(const Case& recorded) {
  nn::Sequential net = on_device(recorded.model());
  std::vector<int64_t> shape = Recording(recorded.name).at("step0/x").sizes().vec();
  const bool is_regression = recorded.is_regression;
  return {net->named_parameters(), [net, shape, is_regression](int64_t batch_size) mutable {
            shape[0] = batch_size;
            const Tensor outputs = net->forward(random(shape));
            const Tensor losses =
                is_regression
                    ? mean_squared_errors(outputs, random(outputs.sizes()))
                    : cross_entropies(outputs, random_integers({batch_size}, outputs.size(1)));
            return Model{losses, outputs, net->named_parameters()};
          }};
}

// Decodes with the transposed weight of the encoder.
FedNet tied_net() {
  const Tensor weight = random_parameter({3, 6});
  const Tensor inner = random_parameter({3});
  const Tensor outer = random_parameter({6});
  const Parameters parameters =
      ParameterList().add("weight", weight).add("inner", inner).add("outer", outer);
  return {
      parameters, [=](int64_t batch_size) {
        const Tensor code = at::linear(random({batch_size, 6}), weight, inner).sigmoid();
        const Tensor outputs = at::linear(code, weight.t(), outer);
        return Model{mean_squared_errors(outputs, random(outputs.sizes())), outputs, parameters};
      }};
}

FedNet recurrent_net() {
  auto input = on_device(nn::Linear(3, 4));
  auto recurrence = on_device(nn::Linear(nn::LinearOptions(4, 4).bias(false)));
  auto head = on_device(nn::Linear(4, 3));
  const Parameters parameters =
      ParameterList().add("input", input).add("recurrence", recurrence).add("head", head);
  return {parameters, [=](int64_t batch_size) mutable {
            const Tensor sequence = random({batch_size, 3, 3});
            Tensor hidden = at::zeros({batch_size, 4}, doubles());
            for (int64_t t = 0; t < 3; ++t) {
              hidden = (input(sequence.select(1, t)) + recurrence(hidden)).tanh();
            }
            const Tensor outputs = head(hidden);
            return Model{
                cross_entropies(outputs, random_integers({batch_size}, 3)), outputs, parameters};
          }};
}

constexpr double kLearningRate = 0.1;

std::unique_ptr<torch::optim::Optimizer> make_optimizer(const std::string& name,
                                                        const std::vector<Tensor>& tensors) {
  if (name == "adam") {
    return std::make_unique<torch::optim::Adam>(tensors, torch::optim::AdamOptions(kLearningRate));
  }
  const double momentum = name == "momentum" ? 0.9 : 0;
  return std::make_unique<torch::optim::SGD>(
      tensors, torch::optim::SGDOptions(kLearningRate).momentum(momentum));
}

std::vector<Quantity> every_quantity() {
  std::vector<Quantity> quantities;
  for (const Quantity& entry : all_quantities()) {
    if (entry.name() != "hess_max_ev" && entry.name() != "hess_min_ev") quantities.push_back(entry);
  }
  for (const char* name : {"hess_max_ev", "hess_min_ev"}) {
    const Settings sharp = {{"tolerance", 1e-10}, {"max_products", 2000}};
    Settings sharp_ggn = sharp;
    sharp_ggn.set("curvature", "ggn");
    quantities.push_back(quantity(name, sharp));
    quantities.push_back(quantity(name, sharp_ggn).named(name + std::string("_ggn")));
  }
  for (const char* name : {"hess_trace", "tic_diag", "tic_trace"}) {
    quantities.push_back(quantity(name, {{"curvature", "ggn"}}).named(name + std::string("_ggn")));
  }
  return quantities;
}

Tensor flattened(const std::vector<Tensor>& tensors) {
  std::vector<Tensor> parts;
  for (const Tensor& tensor : tensors) parts.push_back(tensor.detach().flatten().clone());
  return at::cat(parts);
}

Facts facts_of(const Model& model, const std::vector<Tensor>& tensors, const Tensor& initial) {
  const DenseCurvature dense = dense_curvature(model.losses, model.outputs, model.parameters);
  Facts facts;
  facts.losses = model.losses.detach();
  facts.rows = dense.gradients;
  facts.hessian = dense.hessian();
  facts.ggns = dense.ggns();
  facts.ggn = facts.ggns.mean(0);
  facts.parameters = flattened(tensors);
  facts.initial = initial.defined() ? initial : facts.parameters;
  facts.rate = kLearningRate;
  return facts;
}

WatchedRun train(const RunCase& run) {
  torch::manual_seed(20260101);
  const FedNet net = make_net(run.net);
  const std::vector<Tensor> tensors = tensors_of(net.parameters);
  const auto optimizer = make_optimizer(run.optimizer, tensors);

  WatchedRun result;
  result.sink = std::make_shared<MemorySink>();
  CockpitOptions options;
  options.strict = true;
  options.grouping = Grouping::by_parameter();
  Cockpit cockpit(net.parameters, every_quantity(), options);
  cockpit.add_sink(result.sink);
  StepOptions told;
  told.optimizer = optimizer.get();
  Tensor initial;
  for (int64_t step = 0; step < WatchedRun::kSteps; ++step) {
    const Model model = net.forward(run.batch_size);
    result.steps.push_back(facts_of(model, tensors, initial));
    initial = result.steps[0].parameters;
    optimizer->zero_grad();
    StepWatch watch = cockpit.watch(step, model.losses, told);
    model.losses.mean().backward();
    watch.end();
    optimizer->step();
    result.steps.back().next = flattened(tensors);
  }
  cockpit.finish();

  std::vector<size_t> everything;
  for (size_t p = 0; p < net.parameters.size(); ++p) everything.push_back(p);
  result.entries.emplace_back("", entries_of_group(net.parameters, everything));
  for (size_t p = 0; p < net.parameters.size(); ++p) {
    result.entries.emplace_back(net.parameters[p].name, entries_of_group(net.parameters, {p}));
  }
  return result;
}

}  // namespace

Facts Facts::within(const Tensor& entries) const {
  const auto square = [&entries](const Tensor& matrix) {
    return matrix.index_select(-2, entries).index_select(-1, entries);
  };
  Facts part = *this;
  part.rows = rows.index_select(1, entries);
  part.hessian = square(hessian);
  part.ggn = square(ggn);
  part.ggns = square(ggns);
  for (Tensor Facts::*vector : {&Facts::parameters, &Facts::next, &Facts::initial}) {
    part.*vector = (this->*vector).index_select(0, entries);
  }
  return part;
}

void PrintTo(const RunCase& run, std::ostream* stream) {
  *stream << run.net << "_" << run.batch_size << "_" << run.optimizer;
}

std::string name_of_run(const ::testing::TestParamInfo<RunCase>& instance) {
  return ::testing::PrintToString(instance.param);
}

const std::vector<RunCase>& run_cases() {
  static const std::vector<RunCase> all = {
      {"logreg", 2, "sgd"},
      {"logreg", 8, "adam"},
      {"mlp_relu", 5, "momentum"},
      {"mlp_sigmoid", 8, "sgd"},
      {"mlp_sigmoid", 2, "adam"},
      {"cnn_relu", 5, "sgd"},
      {"cnn_deepobs_like", 5, "adam"},
      {"linreg_mse", 8, "momentum"},
      {"linreg_mse", 5, "sgd"},
      {"tied", 5, "momentum"},
      {"tied", 2, "sgd"},
      {"recurrent", 5, "adam"},
      {"recurrent", 8, "sgd"},
  };
  return all;
}

FedNet make_net(const std::string& name) {
  if (name == "tied") return tied_net();
  if (name == "recurrent") return recurrent_net();
  for (const Case& recorded : cases()) {
    if (recorded.name == name) return recorded_net(recorded);
  }
  TORCH_CHECK(false, "there is no net named ", name);
}

const WatchedRun& watched_run(const RunCase& run) {
  return kept(::testing::PrintToString(run), [&run] { return train(run); });
}

void RunTest::expect_textbook(const std::string& quantity,
                              const Formula& formula,
                              bool has_groups,
                              bool needs_update,
                              const std::string& field) const {
  const auto steps = static_cast<int64_t>(run().steps.size()) - (needs_update ? 1 : 0);
  for (int64_t step = 0; step < steps; ++step) {
    for (const auto& [group, entries] : run().entries) {
      if (!has_groups && !group.empty()) continue;
      expect_number(run().sink->number(step, quantity, group, field),
                    formula(run().steps[step].within(entries)),
                    quantity + " " + field + "@" + group + " at step " + std::to_string(step));
    }
  }
}

void expect_number(double actual, double expected, const std::string& what, double tolerance) {
  if (std::isnan(expected)) {
    EXPECT_TRUE(std::isnan(actual)) << what << " is " << actual << " instead of NaN";
  } else if (std::isinf(expected)) {
    EXPECT_EQ(actual, expected) << what;
  } else {
    EXPECT_LE(std::abs(actual - expected), tolerance * std::abs(expected))
        << what << " is " << actual << " instead of " << expected;
  }
}

}  // namespace flightdeck::tests

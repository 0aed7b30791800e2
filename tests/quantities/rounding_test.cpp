// SPDX-License-Identifier: MIT
// Statistics of how samples differ, from samples that differ less and less: right to 1 %, or said
// to be limited by rounding. The truth is plain autograd of the same numbers in float64.
#include <cmath>
#include <functional>
#include <map>

#include "oracle.h"
#include "tensors.h"

namespace flightdeck::tests {
namespace {

constexpr double kTolerance = 0.01;
constexpr double kRate = 0.1;
constexpr int64_t kFeatures = 48;

// ---- nets ---------------------------------------------------------------------------------------

using Tensors = std::vector<Tensor>;

struct Net {
  std::string name;
  std::vector<std::vector<int64_t>> shapes;
  std::function<Tensor(const Tensors& p, const Tensor& x)> outputs;  // x [N, kFeatures]
};

Tensor mlp(const Tensors& p, const Tensor& x) {
  return at::linear(at::linear(x, p[0], p[1]).tanh(), p[2], p[3]);
}

Tensor sequence(const Tensors& p, const Tensor& x) {
  const Tensor hidden = at::linear(x.view({-1, 4, 12}), p[0], p[1]).tanh();
  return at::linear(hidden, p[2]).sum(1);
}

// Nine output channels take the fused kernel, four do not.
Tensor convolutions(const Tensors& p, const Tensor& x) {
  const Tensor hidden = at::conv2d(x.view({-1, 3, 4, 4}), p[0], p[1], 1, 1).tanh();
  return at::conv2d(hidden, p[2], p[3]).flatten(1);
}

Tensor grouped_convolution(const Tensors& p, const Tensor& x) {
  const Tensor hidden = at::conv1d(x.view({-1, 6, 8}), p[0], {}, 1, 1, 1, /*groups=*/6).tanh();
  return at::conv1d(hidden, p[1], {}, 2, /*padding=*/1, 1, /*groups=*/2).flatten(1);
}

Tensor normalisation(const Tensors& p, const Tensor& x) {
  return at::linear(at::layer_norm(at::linear(x, p[0]), {9}, p[1], p[2]), p[3]);
}

Tensor embedding(const Tensors& p, const Tensor& x) {
  const Tensor lines = at::tensor({0, 3, 5, 3}, x.options().dtype(at::kLong));
  const Tensor looked_up = at::embedding(p[0], lines.expand({x.size(0), 4}));
  return at::linear((looked_up * x.view({-1, 4, 12})).tanh().sum(1), p[1]);
}

Tensor recurrence(const Tensors& p, const Tensor& x) {
  const Tensor steps = x.view({-1, 4, 12});
  Tensor hidden = at::linear(steps.select(1, 0), p[0], p[2]).tanh();
  for (int64_t t = 1; t < 4; ++t) {
    hidden = (at::linear(steps.select(1, t), p[0], p[2]) + at::linear(hidden, p[1])).tanh();
  }
  return hidden;
}

// Looked up and multiplied by: two forms in the same entries.
Tensor tied_table(const Tensors& p, const Tensor& x) {
  const Tensor lines = at::tensor({0, 3, 5, 3}, x.options().dtype(at::kLong));
  const Tensor looked_up = at::embedding(p[0], lines.expand({x.size(0), 4}));
  return at::linear((looked_up * x.view({-1, 4, 12})).sum(1).tanh(), p[0]);
}

// Its op has no rule.
Tensor codebook(const Tensors& p, const Tensor& x) { return at::cdist(at::linear(x, p[0]), p[1]); }

// Each output depends on all samples: one backward pass per sample.
Tensor coupled(const Tensors& p, const Tensor& x) {
  const Tensor hidden = at::linear(x, p[0], p[1]).tanh();
  return at::mm(hidden, hidden.t()).mean(1, /*keepdim=*/true);
}

const std::vector<Net>& nets() {
  static const std::vector<Net> all = {
      {"Mlp", {{9, 48}, {9}, {4, 9}, {4}}, mlp},
      {"Sequence", {{9, 12}, {9}, {4, 9}}, sequence},
      {"Convolutions", {{9, 3, 3, 3}, {9}, {4, 9, 3, 3}, {4}}, convolutions},
      {"GroupedConvolution", {{6, 1, 3}, {4, 3, 2}}, grouped_convolution},
      {"Normalisation", {{9, 48}, {9}, {9}, {4, 9}}, normalisation},
      {"Embedding", {{7, 12}, {4, 12}}, embedding},
      {"Recurrence", {{9, 12}, {9, 9}, {9}}, recurrence},
      {"TiedTable", {{7, 12}}, tied_table},
      {"Codebook", {{9, 48}, {5, 9}}, codebook},
      {"Coupled", {{9, 48}, {9}}, coupled},
  };
  return all;
}

// ---- a batch ------------------------------------------------------------------------------------

struct Batch {
  const Net* net;
  at::ScalarType type;
  int64_t N;
  double spread;

  // The same numbers in any type: rounded to the batch's own first.
  Parameters parameters(at::ScalarType computed_in) const {
    torch::manual_seed(11);
    ParameterList list;
    for (size_t k = 0; k < net->shapes.size(); ++k) {
      const Tensor values = random(net->shapes[k]) * 0.3;
      list.add("p" + std::to_string(k), values.to(type).to(computed_in).requires_grad_());
    }
    return list;
  }

  Tensor losses(const Parameters& parameters, at::ScalarType computed_in) const {
    torch::manual_seed(12);
    const Tensor common = random({1, kFeatures});
    const Tensor x = (common + spread * random({N, kFeatures})).to(type).to(computed_in);
    Tensors tensors;
    for (const NamedParameter& parameter : parameters) tensors.push_back(parameter.tensor);
    // Residuals of one to three keep the digits that outputs have.
    return (net->outputs(tensors, x) - 2).square().sum(1);
  }

  std::string text() const {
    std::ostringstream text;
    text << net->name << " of " << N << " samples in " << c10::toString(type) << " with spread "
         << spread;
    return text.str();
  }
};

// ---- the textbook -------------------------------------------------------------------------------

struct Textbook {
  Tensor rows;    // [N, D]
  Tensor losses;  // [N]

  double N() const { return static_cast<double>(rows.size(0)); }
  Tensor mean() const { return rows.mean(0); }
  Tensor centred() const { return rows - mean(); }
  Tensor variance() const { return centred().square().mean(0); }
  double scatter() const { return centred().square().sum().item<double>(); }
  double length() const { return mean().square().sum().item<double>(); }
  double along() const { return centred().mv(mean()).square().sum().item<double>() / length(); }
  // What is left of each row when its part along the mean is taken off.
  double across() const {
    const Tensor unit = mean() / std::sqrt(length());
    return (centred() - at::ger(centred().mv(unit), unit)).square().sum().item<double>();
  }
  double ratios(double factor) const {
    return (mean().square() / (variance() * factor + 1e-5)).sum().item<double>();
  }

  std::map<std::string, double> quantities() const {
    const double pairs = N() * (N() - 1) * length();
    const auto D = static_cast<double>(rows.size(1));
    const double noise = scatter() / (N() - 1);
    return {{"norm_test", std::sqrt(scatter() / pairs)},
            {"inner_test", std::sqrt(along() / pairs)},
            {"ortho_test", std::sqrt(across() / pairs)},
            {"grad_noise_scale", noise / (length() - noise / N())},
            {"cabs", kRate * scatter() / N() / losses.mean().item<double>()},
            {"mean_gsnr", ratios(1) / D},
            {"early_stopping", 1 - N() / D * ratios(N() / (N() - 1))}};
  }
};

// ---- the sweep ----------------------------------------------------------------------------------

bool is_close(double actual, double expected) {
  return std::abs(actual - expected) <= kTolerance * std::abs(expected);
}

// LibTorch lacks some half-precision operations on some devices.
bool can_compute(const Batch& batch) {
  try {
    const Parameters parameters = batch.parameters(batch.type);
    batch.losses(parameters, batch.type).sum().backward();
    return true;
  } catch (const c10::Error&) {
    return false;
  }
}

class ManySpreads : public testing::TestWithParam<Net> {
 protected:
  using Check = std::function<void(const Batch&)>;

  void sweep(const Check& check) const {
    for (const auto type : {at::kFloat, at::kBFloat16, at::kHalf, at::kDouble}) {
      for (const int64_t N : {2, 3, 8, 64}) {
        for (int exponent = 0; exponent <= 7; ++exponent) {
          const Batch batch{&GetParam(), type, N, std::pow(10.0, -exponent)};
          if (!can_compute(batch)) continue;
          SCOPED_TRACE(batch.text());
          check(batch);
        }
      }
    }
  }

  // By parameter, and "" for all of them.
  std::map<std::string, Textbook> textbook(const Batch& batch) const {
    const Parameters parameters = batch.parameters(at::kDouble);
    const Tensor losses = batch.losses(parameters, at::kDouble);
    const Oracle oracle = differentiate(losses, parameters);
    std::map<std::string, Textbook> books;
    Tensors all;
    for (size_t p = 0; p < oracle.names.size(); ++p) {
      all.push_back(oracle.individual[p].flatten(1));
      books[oracle.names[p]] = {all.back(), losses.detach()};
    }
    books[""] = {at::cat(all, 1), losses.detach()};
    return books;
  }

  // Samples that differ as they do in training have digits to spare. Half precision has none: it
  // rounds to a few percent of such a spread.
  static bool has_digits(const Batch& batch) {
    if (batch.type == at::kDouble) return batch.spread >= 1e-4;
    if (batch.type == at::kFloat) return batch.spread >= (batch.N < 8 ? 1e-2 : 1e-3);
    return false;
  }
};

TEST_P(ManySpreads, LeaveQuantitiesRightOrLimitedByRounding) {
  sweep([&](const Batch& batch) {
    const Parameters parameters = batch.parameters(batch.type);
    CockpitOptions options;
    options.strict = true;
    options.grouping = Grouping::by_parameter();
    const std::map<std::string, Textbook> books = textbook(batch);
    std::vector<Quantity> quantities;
    for (const auto& [name, value] : books.at("").quantities()) {
      quantities.push_back(quantity(name));
    }
    Cockpit cockpit(parameters, quantities, options);
    const auto sink = std::make_shared<MemorySink>();
    cockpit.add_sink(sink);
    StepOptions told;
    told.learning_rate = kRate;
    const Tensor losses = batch.losses(parameters, batch.type);
    StepWatch watch = cockpit.watch(0, losses, told);
    losses.mean().backward();
    watch.end();
    cockpit.finish();

    bool is_any_limited = false;
    for (const auto& [group, book] : books) {
      for (const auto& [name, expected] : book.quantities()) {
        const bool is_limited = sink->find(0, name, group, kRoundingField) != nullptr;
        is_any_limited |= is_limited;
        const double actual = sink->number(0, name, group);
        EXPECT_TRUE(is_limited || is_close(actual, expected))
            << name << "@" << group << " is " << actual << " instead of " << expected;
        EXPECT_FALSE(is_limited && has_digits(batch)) << name << "@" << group << " is limited";
      }
    }
    bool is_told = false;
    for (const Note& note : sink->notes()) {
      is_told |= note.text.find("limited by rounding") != std::string::npos;
    }
    EXPECT_EQ(is_told, is_any_limited);
  });
}

TEST_P(ManySpreads, LeaveNeedsRightOrLimitedByRounding) {
  sweep([&](const Batch& batch) {
    const Parameters parameters = batch.parameters(batch.type);
    const Tensor losses = batch.losses(parameters, batch.type);
    const Needs both = Need::kDeviations | Need::kMeanDots;
    const Gradients scattered = gradients(losses, parameters, both | Need::kNorms);
    const Gradients varied = gradients(losses, parameters, Need::kVariance);
    const std::map<std::string, Textbook> books = textbook(batch);
    for (size_t p = 0; p < parameters.size(); ++p) {
      const Textbook& book = books.at(parameters[p].name);
      const ParameterGradients& scatter = scattered.parameters[p];
      const ParameterGradients& variance = varied.parameters[p];
      const double share = scattered.rounding_share(scatter).item<double>();
      EXPECT_EQ(share > kRoundingLimit,
                varied.rounding_share(variance).item<double>() > kRoundingLimit);
      EXPECT_FALSE(share > kRoundingLimit && has_digits(batch)) << "p" << p << " is limited";
      if (share > kRoundingLimit) continue;
      EXPECT_TRUE(is_close(scatter.deviations.sum().item<double>(), book.scatter()))
          << "deviations of p" << p << " make " << scatter.deviations.sum().item<double>()
          << " instead of " << book.scatter();
      const Tensor expected = book.variance();
      const Tensor difference = variance.variance.flatten().to(at::kDouble) - expected;
      EXPECT_LE(difference.abs().sum().item<double>(), kTolerance * expected.sum().item<double>())
          << "variance of p" << p;
      EXPECT_TRUE(is_close(scatter.norms.to(at::kDouble).square().sum().item<double>(),
                           book.rows.square().sum().item<double>()))
          << "norms of p" << p;
    }
    const double share = scattered.rounding_share(scattered.total).item<double>();
    EXPECT_TRUE(share > kRoundingLimit ||
                is_close(scattered.total.deviations.sum().item<double>(), books.at("").scatter()));
  });
}

INSTANTIATE_TEST_SUITE_P(Nets, ManySpreads, testing::ValuesIn(nets()), [](const auto& info) {
  return info.param.name;
});

}  // namespace
}  // namespace flightdeck::tests

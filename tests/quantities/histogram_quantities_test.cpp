// SPDX-License-Identifier: MIT
// Histogram quantities against counting entries one by one; ranges that follow the data.
#include <cmath>

#include "errors.h"
#include "oracle.h"
#include "quantities/watched_run.h"

namespace flightdeck::tests {
namespace {

int64_t bin_of(double value, const ReadingAxis& axis) {
  if (value < axis.low) return -1;
  if (value > axis.high) return axis.count;
  const double scale = static_cast<double>(axis.count) / (axis.high - axis.low);
  const auto bin = static_cast<int64_t>((value - axis.low) * scale);
  return std::min(bin, axis.count - 1);
}

double entry(const Tensor& vector, int64_t d) { return vector[d].item<double>(); }

void expect_counts_1d(const Reading& reading, const Facts& facts) {
  std::vector<int64_t> counts(reading.axes.at(0).count);
  int64_t below = 0, above = 0;
  const Tensor flat = facts.rows.flatten().to(at::kCPU).contiguous();
  const double* values = flat.data_ptr<double>();
  for (int64_t k = 0; k < flat.numel(); ++k) {
    const int64_t bin = bin_of(values[k], reading.axes[0]);
    if (bin < 0) {
      ++below;
    } else if (bin == reading.axes[0].count) {
      ++above;
    } else {
      ++counts[bin];
    }
  }
  EXPECT_EQ(reading.counts, counts) << reading.group;
  EXPECT_EQ(reading.below, below) << reading.group;
  EXPECT_EQ(reading.above, above) << reading.group;
  EXPECT_EQ(reading.not_a_number, 0) << reading.group;
}

// Both are clamped into their range.
void expect_counts_2d(const Reading& reading, const Facts& facts) {
  ASSERT_EQ(reading.axes.size(), 2u);
  const ReadingAxis &gradients = reading.axes[0], &parameters = reading.axes[1];
  const auto clamped = [](double value, const ReadingAxis& axis) {
    return std::min(std::max<int64_t>(bin_of(value, axis), 0), axis.count - 1);
  };
  std::vector<int64_t> counts(gradients.count * parameters.count);
  const Tensor rows = facts.rows.to(at::kCPU), values = facts.parameters.to(at::kCPU);
  for (int64_t d = 0; d < facts.D(); ++d) {
    const int64_t column = clamped(entry(values, d), parameters);
    for (int64_t n = 0; n < facts.N(); ++n) {
      ++counts[clamped(entry(rows[n], d), gradients) * parameters.count + column];
    }
  }
  EXPECT_EQ(reading.counts, counts) << reading.group;
}

class Histograms : public RunTest {};

TEST_P(Histograms, CountEveryEntryOnce) {
  for (const auto& [group, entries] : run().entries) {
    const Facts facts = run().steps[1].within(entries);
    const Reading* flat = run().sink->find(1, "grad_hist_1d", group);
    const Reading* joint = run().sink->find(1, "grad_hist_2d", group);
    ASSERT_TRUE(flat != nullptr && joint != nullptr) << group;
    ASSERT_EQ(flat->axes.size(), 1u);
    EXPECT_EQ(flat->axes[0].count, 100);
    EXPECT_EQ(flat->axes[0].low, -2);
    EXPECT_EQ(flat->axes[0].high, 2);
    expect_counts_1d(*flat, facts);
    expect_counts_2d(*joint, facts);
  }
}

INSTANTIATE_TEST_SUITE_P(Runs, Histograms, ::testing::ValuesIn(run_cases()), name_of_run);

// ---- ranges -------------------------------------------------------------------------------------

struct Ranges {
  std::shared_ptr<MemorySink> sink = std::make_shared<MemorySink>();
  std::vector<double> gradients, parameters;  // largest magnitude at each step
};

double largest_entry(const std::vector<Tensor>& tensors) {
  double largest = 0;
  for (const Tensor& tensor : tensors) {
    largest = std::max(largest, tensor.abs().max().item<double>());
  }
  return largest;
}

const ReadingAxis& axis_of(const MemorySink& sink,
                           int64_t step,
                           const std::string& name,
                           size_t which = 0) {
  const Reading* reading = sink.find(step, name);
  TORCH_CHECK(reading != nullptr, "step ", step, " has no ", name);
  return reading->axes.at(which);
}

Ranges watch_ranges(std::vector<Quantity> quantities) {
  torch::manual_seed(11);
  const FedNet net = make_net("mlp_relu");
  torch::optim::SGD optimizer(tensors_of(net.parameters), torch::optim::SGDOptions(0.5));
  Ranges result;
  CockpitOptions options;
  options.strict = true;
  Cockpit cockpit(net.parameters, std::move(quantities), options);
  cockpit.add_sink(result.sink);
  for (int64_t step = 0; step < 4; ++step) {
    const Model model = net.forward(5);
    result.gradients.push_back(
        largest_entry(differentiate(model.losses, net.parameters).individual));
    result.parameters.push_back(largest_entry(tensors_of(net.parameters)));
    optimizer.zero_grad();
    StepWatch watch = cockpit.watch(step, model.losses);
    model.losses.mean().backward();
    watch.end();
    optimizer.step();
  }
  cockpit.finish();
  return result;
}

TEST(AdaptiveHistogram, FollowsTheLastTrackedStep) {
  const Ranges ranges = watch_ranges(
      {quantity("grad_hist_1d", {{"adapt", "gradients"}, {"padding", 0.25}, {"bins", 8}}),
       quantity("grad_hist_1d", {{"adapt", "gradients"}}).named("every_other").every(2),
       quantity("grad_hist_1d", {{"low", -0.5}, {"high", 0.5}}).named("fixed")});
  const auto high = [&ranges](int64_t step, const char* name) {
    return axis_of(*ranges.sink, step, name).high;
  };
  EXPECT_EQ(high(0, "grad_hist_1d"), 2);
  for (int64_t step = 1; step < 4; ++step) {
    expect_number(high(step, "grad_hist_1d"), 1.25 * ranges.gradients[step - 1], "range");
    const ReadingAxis axis = axis_of(*ranges.sink, step, "grad_hist_1d");
    EXPECT_EQ(axis.low, -axis.high);
    EXPECT_EQ(axis.count, 8);
    EXPECT_EQ(high(step, "fixed"), 0.5);
  }
  EXPECT_EQ(high(0, "every_other"), 2);
  expect_number(high(2, "every_other"), ranges.gradients[0], "range of every other step");
  EXPECT_EQ(ranges.sink->find(1, "every_other"), nullptr);
}

TEST(AdaptiveHistogram, AdaptsTheAxesItIsTold) {
  const auto joint = [](const char* adapt) {
    return quantity("grad_hist_2d", {{"adapt", adapt}, {"parameter_padding", 0.5}}).named(adapt);
  };
  const Ranges ranges = watch_ranges({joint("gradients"), joint("parameters"), joint("both")});
  for (int64_t step = 1; step < 4; ++step) {
    const auto axis = [&](const char* name, size_t which) {
      return axis_of(*ranges.sink, step, name, which).high;
    };
    expect_number(axis("gradients", 0), ranges.gradients[step - 1], "gradients");
    EXPECT_EQ(axis("gradients", 1), 2);
    EXPECT_EQ(axis("parameters", 0), 1);
    expect_number(axis("parameters", 1), 1.5 * ranges.parameters[step - 1], "parameters");
    EXPECT_EQ(axis("both", 0), axis("gradients", 0));
    EXPECT_EQ(axis("both", 1), axis("parameters", 1));
  }
}

TEST(AdaptiveHistogram, HasASmallestWidth) {
  const Ranges ranges = watch_ranges(
      {quantity("grad_hist_1d", {{"adapt", "gradients"}, {"min_size", 1e6}, {"padding", 1}})});
  EXPECT_EQ(axis_of(*ranges.sink, 1, "grad_hist_1d").high, 1e6);
}

TEST(AdaptiveHistogram, KeepsItsRangeWhereGradientsAreNotFinite) {
  const Tensor weight = at::ones({1}, doubles()).requires_grad_();
  CockpitOptions options;
  options.strict = true;
  Cockpit cockpit(ParameterList().add("weight", weight),
                  {quantity("grad_hist_1d", {{"adapt", "gradients"}})},
                  options);
  auto sink = std::make_shared<MemorySink>();
  cockpit.add_sink(sink);
  for (int64_t step = 0; step < 2; ++step) {
    const Tensor inputs =
        at::tensor({1.0, std::numeric_limits<double>::quiet_NaN()}, at::kDouble).to(test_device());
    const Tensor losses = weight * inputs;
    StepWatch watch = cockpit.watch(step, losses);
    losses.mean().backward();
    watch.end();
  }
  cockpit.finish();
  ASSERT_NE(sink->find(0, "grad_hist_1d"), nullptr);
  EXPECT_EQ(sink->find(0, "grad_hist_1d")->not_a_number, 1);
  EXPECT_EQ(axis_of(*sink, 1, "grad_hist_1d").high, 2);
}

TEST(HistogramRange, IsRefusedIfItIsEmptyOrEndless) {
  expect_mentions(error_of([] {
                    return quantity("grad_hist_1d", {{"low", 2}, {"high", -2}});
                  }),
                  {"grad_hist_1d", "from 2 to -2"});
  expect_mentions(error_of([] { return quantity("grad_hist_1d", {{"high", "inf"}}); }), {"finite"});
  expect_mentions(error_of([] {
                    return quantity("grad_hist_1d", {{"bins", 0}});
                  }),
                  {"grad_hist_1d", "bins", "at least 1"});
  expect_mentions(error_of([] {
                    return quantity("grad_hist_2d", {{"parameter_low", 3}});
                  }),
                  {"grad_hist_2d", "from 3 to 2"});
}

}  // namespace
}  // namespace flightdeck::tests

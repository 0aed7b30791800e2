// SPDX-License-Identifier: MIT
#include "run/subjects.h"

#include <algorithm>
#include <cmath>

#include <ATen/CPUGeneratorImpl.h>
#include <torch/torch.h>

#include "suite/batches.h"
#include "suite/find_entry.h"

namespace flightdeck::run {
namespace {

namespace nn = torch::nn;

std::shared_ptr<NetParts> usual_parts(int64_t hidden_layers) {
  auto parts = std::make_shared<NetParts>();
  parts->activation = [](const Tensor& values) { return torch::relu(values); };
  // The parts own this function, so it holds a plain pointer to them: a shared one would be a
  // cycle.
  parts->between = [owner = parts.get()](int64_t, const Tensor& values) {
    return owner->dropout > 0 ? torch::dropout(values, owner->dropout, owner->is_training) : values;
  };
  parts->head = [](const Tensor& outputs) { return outputs; };
  parts->hidden_layers = hidden_layers;
  return parts;
}

// ---- data ---------------------------------------------------------------------------------------

enum class Pattern { kSpots, kWaves, kEdges };

// Images in which each class is a sum of a few waves, spots or edges; samples are scaled, noisy and
// standardised.
struct Images {
  int64_t classes = 10, side = 8, count = 2000;
  Pattern pattern = Pattern::kSpots;
  double noise = 1.0;
};

constexpr int64_t kHeldSamples = 500;

// Draws what a part of a picture looks like: draws [4, C, 1, 1], x [1, 1, S], y [1, S, 1] -> [C, S,
// S].
Tensor one_pattern(Pattern pattern, const Tensor& draws, const Tensor& x, const Tensor& y) {
  if (pattern == Pattern::kWaves) {
    const Tensor fx = (draws[0] * 3).round(), fy = (draws[1] * 3).round();
    return torch::sin(2 * M_PI * (fx * x + fy * y + draws[2]));
  }
  if (pattern == Pattern::kEdges) {
    const Tensor angle = 2 * M_PI * draws[2];
    return torch::tanh(8 *
                       (torch::cos(angle) * (x - draws[0]) + torch::sin(angle) * (y - draws[1])));
  }
  const Tensor distance = (x - draws[0]).pow(2) + (y - draws[1]).pow(2);
  return (draws[2] * 2 - 0.7) * torch::exp(-distance * 20);
}

Tensor prototypes(const Images& images, at::Generator random) {
  const int64_t C = images.classes, S = images.side;
  const Tensor place = torch::arange(S, torch::kFloat) / static_cast<double>(S);
  const Tensor x = place.view({1, 1, S}), y = place.view({1, S, 1});
  Tensor sum = torch::zeros({C, S, S});
  for (int64_t k = 0; k < 3; ++k) {
    const Tensor draws = torch::rand({4, C, 1, 1}, random, torch::kFloat);
    sum = sum + one_pattern(images.pattern, draws, x, y);
  }
  sum = sum - sum.mean({1, 2}, /*keepdim=*/true);
  return sum / sum.pow(2).mean({1, 2}, /*keepdim=*/true).sqrt();
}

// Makes a second generator, so that held-out samples leave the draws of the others as they are.
at::Generator held_random(const FaultyTraining& trial) {
  return at::make_generator<at::CPUGeneratorImpl>(trial.random.current_seed() + 1);
}

// Makes noisy pictures: patterns [C, S, S], targets [n] -> [n, S, S].
Tensor pictures_of(const Tensor& patterns,
                   const Tensor& targets,
                   double noise,
                   at::Generator random) {
  const int64_t n = targets.size(0), S = patterns.size(1);
  const Tensor scale = 0.6 + 0.8 * torch::rand({n, 1, 1}, random, torch::kFloat);
  const Tensor scatter = noise * torch::randn({n, S, S}, random, torch::kFloat);
  return patterns.index_select(0, targets) * scale + scatter;
}

void fill_images(FaultyTraining& trial, const Images& images) {
  const Tensor patterns = prototypes(images, trial.random);
  trial.classes = images.classes;
  const auto draw = [&](int64_t n, at::Generator random) {
    return torch::randint(0, images.classes, {n}, random, torch::kLong);
  };
  trial.targets = draw(images.count, trial.random);
  const Tensor pictures = pictures_of(patterns, trial.targets, images.noise, trial.random);
  const Tensor mean = pictures.mean(), deviation = pictures.std();
  trial.inputs = ((pictures - mean) / deviation).unsqueeze(1);  // [n, 1, S, S]
  const at::Generator random = held_random(trial);
  trial.held_targets = draw(kHeldSamples, random);
  const Tensor held = pictures_of(patterns, trial.held_targets, images.noise, random);
  trial.held_inputs = ((held - mean) / deviation).unsqueeze(1);
}

// A chain of letters, each of which has a few likely followers.
struct Text {
  int64_t letters = 24, length = 16, count = 1200;
  double sharpness = 2.5;
};

// Draws texts: odds [V, V] -> letters [n, T + 1].
Tensor chains(const Tensor& odds, int64_t n, int64_t T, at::Generator random) {
  Tensor letters = torch::empty({n, T + 1}, torch::kLong);
  letters.select(1, 0).copy_(torch::randint(0, odds.size(0), {n}, random, torch::kLong));
  for (int64_t t = 0; t < T; ++t) {
    const Tensor rows = odds.index_select(0, letters.select(1, t));
    letters.select(1, t + 1).copy_(
        torch::multinomial(rows, 1, /*replacement=*/true, random).squeeze(1));
  }
  return letters;
}

void fill_text(FaultyTraining& trial, const Text& text) {
  const int64_t T = text.length, V = text.letters;
  const Tensor odds =
      torch::softmax(text.sharpness * torch::randn({V, V}, trial.random, torch::kFloat), 1);
  const Tensor letters = chains(odds, text.count, T, trial.random);
  trial.classes = V;
  trial.is_text = true;
  trial.inputs = letters.slice(1, 0, T).contiguous();
  trial.targets = letters.slice(1, 1).contiguous();
  const Tensor held = chains(odds, kHeldSamples, T, held_random(trial));
  trial.held_inputs = held.slice(1, 0, T).contiguous();
  trial.held_targets = held.slice(1, 1).contiguous();
}

// ---- networks -----------------------------------------------------------------------------------

suite::Model dense_net(std::shared_ptr<NetParts> parts, const std::vector<int64_t>& widths) {
  auto module = std::make_shared<nn::Module>("dense");
  std::vector<nn::Linear> layers;
  for (size_t k = 0; k + 1 < widths.size(); ++k) {
    const bool is_last = k + 2 == widths.size();
    layers.push_back(module->register_module(is_last ? "outputs" : "hidden" + std::to_string(k + 1),
                                             nn::Linear(widths[k], widths[k + 1])));
  }
  return {module, [parts, layers](const Tensor& inputs) mutable {
            Tensor values = inputs.flatten(1);
            for (size_t k = 0; k < layers.size(); ++k) {
              values = layers[k](values);
              if (k + 1 == layers.size()) break;
              values = parts->between(static_cast<int64_t>(k), parts->activation(values));
            }
            return parts->head(values);
          }};
}

struct ConvSizes {
  int64_t first = 8, second = 16, dense = 32;
};

suite::Model conv_net(std::shared_ptr<NetParts> parts,
                      const ConvSizes& sizes,
                      int64_t side,
                      int64_t classes) {
  auto module = std::make_shared<nn::Module>("conv");
  const auto conv = [&](const char* name, int64_t in, int64_t out) -> nn::Conv2d {
    return module->register_module(name, nn::Conv2d(nn::Conv2dOptions(in, out, 3).padding(1)));
  };
  nn::Conv2d conv1 = conv("hidden1", 1, sizes.first);
  nn::Conv2d conv2 = conv("hidden2", sizes.first, sizes.second);
  const int64_t features = sizes.second * (side / 4) * (side / 4);
  nn::Linear dense = module->register_module("hidden3", nn::Linear(features, sizes.dense));
  nn::Linear outputs = module->register_module("outputs", nn::Linear(sizes.dense, classes));
  return {module, [=](const Tensor& inputs) mutable {
            Tensor values = parts->between(0, parts->activation(conv1(inputs)));
            values = torch::max_pool2d(values, 2);
            values = parts->between(1, parts->activation(conv2(values)));
            values = torch::max_pool2d(values, 2).flatten(1);
            values = parts->between(2, parts->activation(dense(values)));
            return parts->head(outputs(values));
          }};
}

struct TextSizes {
  int64_t width = 32, heads = 2, blocks = 2;
};

class BlockImpl : public nn::Module {
 public:
  BlockImpl(std::shared_ptr<NetParts> parts, const TextSizes& sizes, int64_t layer)
      : parts_(std::move(parts)),
        layer_(layer),
        heads_(sizes.heads),
        norm1_(register_module("norm1", nn::LayerNorm(nn::LayerNormOptions({sizes.width})))),
        norm2_(register_module("norm2", nn::LayerNorm(nn::LayerNormOptions({sizes.width})))),
        mixed_(register_module("mixed", nn::Linear(sizes.width, 3 * sizes.width))),
        joined_(register_module("joined", nn::Linear(sizes.width, sizes.width))),
        hidden_(register_module("hidden", nn::Linear(sizes.width, 4 * sizes.width))),
        out_(register_module("out", nn::Linear(4 * sizes.width, sizes.width))) {}

  Tensor forward(const Tensor& values) {
    const Tensor attended = values + attention(norm1_(values));
    const Tensor wide = parts_->activation(hidden_(norm2_(attended)));
    return parts_->between(layer_, attended + out_(wide));
  }

 private:
  Tensor attention(const Tensor& values) {  // [N, T, d]
    const int64_t N = values.size(0), T = values.size(1), d = values.size(2);
    const Tensor heads =
        mixed_(values).view({N, T, 3, heads_, d / heads_}).permute({2, 0, 3, 1, 4});
    const Tensor scores = torch::matmul(heads[0], heads[1].transpose(-1, -2)) /
                          std::sqrt(static_cast<double>(d / heads_));
    const Tensor mask = torch::full({T, T}, -1e9).triu(1);
    const Tensor mixed = torch::matmul(torch::softmax(scores + mask, -1), heads[2]);
    return joined_(mixed.transpose(1, 2).reshape({N, T, d}));
  }

  std::shared_ptr<NetParts> parts_;
  int64_t layer_, heads_;
  nn::LayerNorm norm1_, norm2_;
  nn::Linear mixed_, joined_, hidden_, out_;
};
TORCH_MODULE(Block);

suite::Model text_net(std::shared_ptr<NetParts> parts, const TextSizes& sizes, const Text& text) {
  auto module = std::make_shared<nn::Module>("text");
  nn::Embedding letters =
      module->register_module("letters", nn::Embedding(text.letters, sizes.width));
  nn::Embedding places = module->register_module("places", nn::Embedding(text.length, sizes.width));
  std::vector<Block> blocks;
  for (int64_t k = 0; k < sizes.blocks; ++k) {
    blocks.push_back(
        module->register_module("block" + std::to_string(k + 1), Block(parts, sizes, k)));
  }
  nn::LayerNorm norm =
      module->register_module("norm", nn::LayerNorm(nn::LayerNormOptions({sizes.width})));
  nn::Linear outputs = module->register_module("outputs", nn::Linear(sizes.width, text.letters));
  {
    // Embeddings are as small as usual, because deviation 1 would begin far from equal odds.
    const torch::NoGradGuard no_grad;
    letters->weight.mul_(0.3);
    places->weight.mul_(0.3);
  }
  return {module, [=](const Tensor& inputs) mutable {
            Tensor values = letters(inputs) + places->weight;
            for (Block& block : blocks) values = block(values);
            return parts->head(outputs(norm(values)).transpose(1, 2));  // [N, C, T]
          }};
}

// ---- trials -------------------------------------------------------------------------------------

Tensor cross_entropy(const Tensor& outputs, const Tensor& targets) {
  const Tensor losses = torch::nn::functional::cross_entropy(
      outputs, targets, torch::nn::functional::CrossEntropyFuncOptions().reduction(torch::kNone));
  return losses.dim() == 1 ? losses : losses.mean(1);
}

FaultyTraining begin_training(const std::string& subject, uint64_t seed) {
  torch::manual_seed(seed);
  FaultyTraining trial;
  trial.subject = subject;
  trial.random = at::make_generator<at::CPUGeneratorImpl>(seed * 7919 + 17);
  trial.losses = &cross_entropy;
  trial.reduce = [](const Tensor& losses) { return losses.mean(); };
  return trial;
}

Subject dense_subject(const std::string& name,
                      Split split,
                      const Images& images,
                      const std::vector<int64_t>& hidden,
                      int64_t batch_size,
                      std::vector<std::pair<std::string, double>> optimizers) {
  Subject subject;
  subject.name = name;
  subject.summary = hidden.empty() ? "logistic regression on generated pictures"
                                   : "a perceptron on generated pictures";
  subject.split = split;
  subject.optimizers = std::move(optimizers);
  subject.make = [=](uint64_t seed) {
    FaultyTraining trial = begin_training(name, seed);
    fill_images(trial, images);
    trial.batch_size = batch_size;
    trial.parts = usual_parts(static_cast<int64_t>(hidden.size()));
    std::vector<int64_t> widths = {images.side * images.side};
    widths.insert(widths.end(), hidden.begin(), hidden.end());
    widths.push_back(images.classes);
    trial.model = dense_net(trial.parts, widths);
    return trial;
  };
  return subject;
}

Subject conv_subject(const std::string& name,
                     Split split,
                     const Images& images,
                     const ConvSizes& sizes,
                     int64_t batch_size,
                     std::vector<std::pair<std::string, double>> optimizers) {
  Subject subject;
  subject.name = name;
  subject.summary = "two convolutions and two dense layers on generated pictures";
  subject.split = split;
  subject.optimizers = std::move(optimizers);
  subject.make = [=](uint64_t seed) {
    FaultyTraining trial = begin_training(name, seed);
    fill_images(trial, images);
    trial.batch_size = batch_size;
    trial.parts = usual_parts(3);
    trial.model = conv_net(trial.parts, sizes, images.side, images.classes);
    return trial;
  };
  return subject;
}

Subject text_subject(const std::string& name,
                     Split split,
                     const Text& text,
                     const TextSizes& sizes,
                     int64_t batch_size,
                     std::vector<std::pair<std::string, double>> optimizers) {
  Subject subject;
  subject.name = name;
  subject.summary = "a small GPT on generated text";
  subject.split = split;
  subject.optimizers = std::move(optimizers);
  subject.make = [=](uint64_t seed) {
    FaultyTraining trial = begin_training(name, seed);
    fill_text(trial, text);
    trial.batch_size = batch_size;
    trial.parts = usual_parts(sizes.blocks);
    trial.model = text_net(trial.parts, sizes, text);
    return trial;
  };
  return subject;
}

Images spots(int64_t side) {
  Images images;
  images.side = side;
  return images;
}

Images waves(int64_t side) {
  Images images;
  images.side = side;
  images.classes = 7;
  images.pattern = Pattern::kWaves;
  images.noise = 1.3;
  return images;
}

Text short_text() {
  Text text;
  text.letters = 18;
  text.length = 12;
  text.sharpness = 2;
  return text;
}

Images edges(int64_t side) {
  Images images;
  images.side = side;
  images.classes = 8;
  images.pattern = Pattern::kEdges;
  images.noise = 1.6;
  return images;
}

Text long_text() {
  Text text;
  text.letters = 30;
  text.length = 20;
  text.sharpness = 2.2;
  return text;
}

std::vector<Subject> make_subjects() {
  TextSizes narrow;
  narrow.width = 24;
  narrow.blocks = 1;
  ConvSizes slim;
  slim.first = 6;
  slim.second = 12;
  slim.dense = 40;
  ConvSizes wide;
  wide.first = 10;
  wide.second = 14;
  wide.dense = 48;
  TextSizes broad;
  broad.width = 40;
  broad.heads = 4;
  broad.blocks = 2;
  return {
      dense_subject("spots_logreg",
                    Split::kTune,
                    spots(8),
                    {},
                    64,
                    {{"sgd", 0.1}, {"adam", 0.01}, {"momentum", 0.02}}),
      dense_subject("spots_mlp",
                    Split::kTune,
                    spots(8),
                    {64, 48, 32},
                    64,
                    {{"sgd", 0.2}, {"adam", 0.002}, {"momentum", 0.03}}),
      conv_subject("spots_2c2d",
                   Split::kTune,
                   spots(12),
                   {},
                   64,
                   {{"sgd", 0.1}, {"adam", 0.002}, {"momentum", 0.02}}),
      text_subject("chain_gpt",
                   Split::kTune,
                   {},
                   {},
                   32,
                   {{"sgd", 0.5}, {"adam", 0.003}, {"momentum", 0.1}}),
      dense_subject("waves_logreg",
                    Split::kTest,
                    waves(10),
                    {},
                    48,
                    {{"sgd", 0.1}, {"adam", 0.01}, {"momentum", 0.02}}),
      dense_subject("waves_mlp",
                    Split::kTest,
                    waves(10),
                    {80, 40},
                    48,
                    {{"sgd", 0.2}, {"adam", 0.002}, {"momentum", 0.03}}),
      conv_subject("waves_2c2d",
                   Split::kTest,
                   waves(16),
                   slim,
                   48,
                   {{"sgd", 0.1}, {"adam", 0.002}, {"momentum", 0.02}}),
      text_subject("short_gpt",
                   Split::kTest,
                   short_text(),
                   narrow,
                   40,
                   {{"sgd", 0.5}, {"adam", 0.003}, {"momentum", 0.1}}),
      dense_subject("edges_logreg",
                    Split::kFinal,
                    edges(9),
                    {},
                    56,
                    {{"sgd", 0.1}, {"rmsprop", 0.003}, {"nag", 0.02}}),
      dense_subject("edges_mlp",
                    Split::kFinal,
                    edges(9),
                    {56, 56},
                    56,
                    {{"sgd", 0.2}, {"rmsprop", 0.002}, {"nag", 0.03}}),
      conv_subject("edges_2c2d",
                   Split::kFinal,
                   edges(14),
                   wide,
                   56,
                   {{"sgd", 0.1}, {"rmsprop", 0.002}, {"nag", 0.02}}),
      text_subject("long_gpt",
                   Split::kFinal,
                   long_text(),
                   broad,
                   24,
                   {{"sgd", 0.5}, {"rmsprop", 0.003}, {"nag", 0.1}}),
  };
}

// Makes a subject of a problem of the suite. Faults that look inside a network do not fit it.
Subject suite_subject(const suite::Problem& problem) {
  Subject subject;
  subject.name = problem.name;
  subject.summary = problem.summary;
  subject.split = Split::kTest;
  subject.optimizers = {{"sgd", 0.01}, {"adam", 0.001}, {"momentum", 0.003}};
  subject.make = [problem](uint64_t seed) {
    FaultyTraining trial = begin_training(problem.name, seed);
    suite::DataOptions options;
    options.synthetic = true;
    options.seed = seed;
    options.limit = 2000;
    const suite::DataSet data = suite::load_data(problem.data_set, options);
    trial.inputs = data.prepare ? data.prepare(data.train.inputs) : data.train.inputs;
    trial.targets = data.train.targets;
    trial.held_inputs = data.prepare ? data.prepare(data.test.inputs) : data.test.inputs;
    trial.held_targets = data.test.targets;
    trial.classes = problem.classes;
    trial.is_text = trial.inputs.scalar_type() == torch::kLong;
    trial.batch_size = std::min<int64_t>(problem.batch_size, 64);
    trial.model = problem.build();
    trial.losses = problem.losses;
    return trial;
  };
  return subject;
}

}  // namespace

const char* to_string(Split split) {
  switch (split) {
    case Split::kTune:
      return "tune";
    case Split::kTest:
      return "test";
    case Split::kFinal:
      break;
  }
  return "final";
}

const std::vector<Subject>& all_subjects() {
  static const std::vector<Subject> all = make_subjects();
  return all;
}

Subject find_subject(const std::string& name) {
  std::vector<std::string> names;
  for (const Subject& subject : all_subjects()) {
    if (subject.name == name) return subject;
    names.push_back(subject.name);
  }
  for (const suite::Problem& problem : suite::all_problems()) {
    if (problem.name == name && problem.classes > 0) return suite_subject(problem);
    if (problem.classes > 0) names.push_back(problem.name);
  }
  suite::refuse_name(name, names, "problem of FaultBench");
}

}  // namespace flightdeck::run

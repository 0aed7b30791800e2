// SPDX-License-Identifier: MIT
#include "run/subjects.h"

#include <algorithm>

#include <ATen/CPUGeneratorImpl.h>
#include <torch/torch.h>

#include "run/subject_nets.h"
#include "suite/batches.h"
#include "suite/find_entry.h"

namespace flightdeck::run {
namespace {

Tensor cross_entropy(const Tensor& outputs, const Tensor& targets) {
  const Tensor losses = torch::nn::functional::cross_entropy(
      outputs, targets, torch::nn::functional::CrossEntropyFuncOptions().reduction(torch::kNone));
  return losses.dim() == 1 ? losses : losses.mean(1);
}

FaultyTraining begin_training(const std::string& subject, uint64_t seed) {
  torch::manual_seed(seed);
  FaultyTraining training;
  training.subject = subject;
  training.random = at::make_generator<at::CPUGeneratorImpl>(seed * 7919 + 17);
  training.losses = &cross_entropy;
  training.reduce = [](const Tensor& losses) { return losses.mean(); };
  return training;
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
    FaultyTraining training = begin_training(name, seed);
    fill_images(training, images);
    training.batch_size = batch_size;
    training.parts = usual_parts(static_cast<int64_t>(hidden.size()));
    std::vector<int64_t> widths = {images.side * images.side};
    widths.insert(widths.end(), hidden.begin(), hidden.end());
    widths.push_back(images.classes);
    training.model = dense_net(training.parts, widths);
    return training;
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
    FaultyTraining training = begin_training(name, seed);
    fill_images(training, images);
    training.batch_size = batch_size;
    training.parts = usual_parts(3);
    training.model = conv_net(training.parts, sizes, images.side, images.classes);
    return training;
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
    FaultyTraining training = begin_training(name, seed);
    fill_text(training, text);
    training.batch_size = batch_size;
    training.parts = usual_parts(sizes.blocks);
    training.model = text_net(training.parts, sizes, text);
    return training;
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

std::vector<Subject> tune_subjects() {
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
  };
}

std::vector<Subject> test_subjects() {
  ConvSizes slim;
  slim.first = 6;
  slim.second = 12;
  slim.dense = 40;
  TextSizes narrow;
  narrow.width = 24;
  narrow.blocks = 1;
  return {
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
  };
}

std::vector<Subject> final_subjects() {
  ConvSizes wide;
  wide.first = 10;
  wide.second = 14;
  wide.dense = 48;
  TextSizes broad;
  broad.width = 40;
  broad.heads = 4;
  broad.blocks = 2;
  return {
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

std::vector<Subject> make_subjects() {
  std::vector<Subject> all;
  for (const auto& of_split : {tune_subjects(), test_subjects(), final_subjects()}) {
    all.insert(all.end(), of_split.begin(), of_split.end());
  }
  return all;
}

// Makes a subject of a problem of the suite. Faults that look inside a network do not fit it.
Subject suite_subject(const suite::Problem& problem) {
  Subject subject;
  subject.name = problem.name;
  subject.summary = problem.summary;
  subject.split = Split::kTest;
  subject.optimizers = {{"sgd", 0.01}, {"adam", 0.001}, {"momentum", 0.003}};
  subject.make = [problem](uint64_t seed) {
    FaultyTraining training = begin_training(problem.name, seed);
    suite::DataOptions options;
    options.synthetic = true;
    options.seed = seed;
    options.limit = 2000;
    const suite::DataSet data = suite::load_data(problem.data_set, options);
    training.inputs = data.prepare ? data.prepare(data.train.inputs) : data.train.inputs;
    training.targets = data.train.targets;
    training.held_inputs = data.prepare ? data.prepare(data.test.inputs) : data.test.inputs;
    training.held_targets = data.test.targets;
    training.classes = problem.classes;
    training.is_text = training.inputs.scalar_type() == torch::kLong;
    training.batch_size = std::min<int64_t>(problem.batch_size, 64);
    training.model = problem.build();
    training.losses = problem.losses;
    return training;
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

// SPDX-License-Identifier: MIT
#include "run/checkpoint.h"

#include <cstdio>
#include <filesystem>
#include <utility>

#include <torch/optim/optimizer.h>
#include <torch/serialize/archive.h>

#include "base/whole_file.h"
#include "flightdeck/cockpit.h"
#include "run/training.h"

namespace flightdeck::run {
namespace {

using torch::serialize::InputArchive;
using torch::serialize::OutputArchive;
using Tensors = std::map<std::string, Tensor>;

std::string file_in(const std::string& run_folder) { return run_folder + "/checkpoint.pt"; }

// Archives are modules with attributes, so dictionaries and texts are written as they are.
void write(OutputArchive& archive, const std::string& key, const Tensors& tensors) {
  c10::Dict<std::string, Tensor> dictionary;
  for (const auto& [name, tensor] : tensors) dictionary.insert(name, tensor);
  archive.write(key, c10::IValue(dictionary));
}

c10::IValue read(InputArchive& archive, const std::string& key) {
  c10::IValue value;
  archive.read(key, value);
  return value;
}

Tensors read_tensors(InputArchive& archive, const std::string& key) {
  Tensors tensors;
  for (const auto& entry : read(archive, key).toGenericDict()) {
    tensors[entry.key().toStringRef()] = entry.value().toTensor();
  }
  return tensors;
}

void write(OutputArchive& archive, const std::map<std::string, std::string>& texts) {
  c10::Dict<std::string, std::string> dictionary;
  for (const auto& [key, text] : texts) dictionary.insert(key, text);
  archive.write("config", c10::IValue(dictionary));
}

}  // namespace

CheckpointWriter::CheckpointWriter(const std::string& run_folder) : path_(file_in(run_folder)) {}

CheckpointWriter::~CheckpointWriter() = default;

void CheckpointWriter::prepare(const RunProgress& progress,
                               const Training& training,
                               const Cockpit& cockpit) {
  OutputArchive archive;
  archive.write("step", c10::IValue(progress.step));
  archive.write("evaluated_at", c10::IValue(progress.evaluated_at));
  archive.write("outcome", c10::IValue(study::to_json(progress.outcome)));
  archive.write("arguments", c10::IValue(c10::List<std::string>(progress.arguments)));
  archive.write("folder", c10::IValue(progress.folder));
  write(archive, progress.config);
  write(archive, "training", training.save());
  OutputArchive optimizer;
  training.optimizer().save(optimizer);
  archive.write("optimizer", optimizer);
  write(archive, "cockpit", cockpit.save());
  if (!progress.reactions.empty()) write(archive, "reactions", progress.reactions);
  prepared_.reset();
  auto file = std::make_unique<WholeFile>(path_);
  // The writer must not learn of a failed write, because LibTorch 1.13 then throws from the
  // destructor of its zip writer. The file remembers the failure.
  archive.save_to([&file](const void* bytes, size_t count) {
    file->write({static_cast<const char*>(bytes), count});
    return count;
  });
  file->finish();
  prepared_ = std::move(file);
}

void CheckpointWriter::commit() {
  const std::unique_ptr<WholeFile> file = std::move(prepared_);
  if (file) file->keep();
}

void CheckpointWriter::remove() {
  prepared_.reset();
  std::remove(path_.c_str());
}

bool Checkpoint::exists(const std::string& run_folder) {
  std::error_code ignored;
  return std::filesystem::exists(file_in(run_folder), ignored);
}

Checkpoint::Checkpoint(const std::string& run_folder) : archive_(std::make_unique<InputArchive>()) {
  const std::string path = file_in(run_folder);
  try {
    archive_->load_from(path);
    progress_.step = read(*archive_, "step").toInt();
    progress_.evaluated_at = read(*archive_, "evaluated_at").toInt();
    progress_.outcome = study::outcome_from_json(read(*archive_, "outcome").toStringRef());
    for (const c10::IValue& word : read(*archive_, "arguments").toListRef()) {
      progress_.arguments.push_back(word.toStringRef());
    }
    progress_.folder = read(*archive_, "folder").toStringRef();
    for (const auto& entry : read(*archive_, "config").toGenericDict()) {
      progress_.config[entry.key().toStringRef()] = entry.value().toStringRef();
    }
    c10::IValue reactions;
    if (archive_->try_read("reactions", reactions)) {
      progress_.reactions = read_tensors(*archive_, "reactions");
    }
  } catch (const std::exception& error) {
    TORCH_CHECK(false,
                "run: ",
                path,
                " cannot be read; remove it to begin the run anew\n  ",
                std::string(error.what()).substr(0, 300));
  }
}

Checkpoint::~Checkpoint() = default;

void Checkpoint::restore(Training& training) const {
  InputArchive optimizer;
  archive_->read("optimizer", optimizer);
  training.optimizer().load(optimizer);
  training.load(read_tensors(*archive_, "training"), progress_.step);
}

void Checkpoint::restore(Cockpit& cockpit) const {
  cockpit.load(read_tensors(*archive_, "cockpit"));
}

}  // namespace flightdeck::run

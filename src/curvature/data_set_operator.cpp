// SPDX-License-Identifier: MIT
#include "flightdeck/data_set_operator.h"

#include <algorithm>
#include <sstream>

#include <ATen/ATen.h>

#include "curvature/flat_parameters.h"
#include "curvature/kept_products.h"

namespace flightdeck {
namespace {

int64_t samples_in(const Batch& batch) {
  const auto& chosen = batch.options().samples;
  return chosen.empty() ? batch.size() : static_cast<int64_t>(chosen.size());
}

class DataSetOperator final : public CurvatureOperator {
 public:
  DataSetOperator(int64_t batches,
                  BatchSource source,
                  CurvatureKind kind,
                  const DataSetOptions& options)
      : source_(std::move(source)),
        kind_(kind),
        options_(options),
        counts_(checked(batches), -1),
        parameters_(new_batch(0).parameters()),
        flat_(parameters_) {
    if (!options_.folder.empty()) kept_.emplace(options_.folder, description());
  }

  int64_t dim() const override { return flat_.dim(); }
  at::TensorOptions options() const override { return flat_.options(); }
  std::vector<Tensor> split(const Tensor& vectors) const override { return flat_.split(vectors); }
  Tensor join(const std::vector<Tensor>& parts) const override { return flat_.join(parts); }
  const std::vector<std::string>& remarks() const override { return remarks_; }

  Tensor multiply(const Tensor& vectors) const override {
    TORCH_CHECK_VALUE(vectors.dim() == 2 && vectors.size(1) == dim(),
                      "data set operator: vectors have shape ",
                      vectors.sizes(),
                      " but must be [V, D] with D = ",
                      dim(),
                      ", one line per vector; flatten and concatenate, or use join");
    const int64_t number = products_;
    if (kept_) {
      if (const auto found = kept_->product(number, vectors)) {
        ++products_;
        return found->to(options());
      }
    }
    const Tensor result = mean_over_batches(
        number, vectors, [&](const CurvatureOperator& part) { return part.multiply(vectors); });
    if (kept_) kept_->keep(number, vectors, result);
    ++products_;
    return result;
  }

  Tensor gradient() const override {
    const Tensor line = at::zeros({1, dim()}, options());
    return mean_over_batches(
               -1, line, [](const CurvatureOperator& part) { return part.gradient().unsqueeze(0); })
        .squeeze(0);
  }

 private:
  static int64_t checked(int64_t batches) {
    TORCH_CHECK_VALUE(
        batches > 0, "data set operator: ", batches, " batches asked for; give at least one");
    return batches;
  }

  int64_t count() const { return static_cast<int64_t>(counts_.size()); }

  // Of a new forward pass; checks that it is the batch of before.
  Batch new_batch(int64_t k) const {
    const at::AutoGradMode with_graph(true);
    Batch batch = source_(k);
    const int64_t samples = samples_in(batch);
    TORCH_CHECK_VALUE(counts_[k] < 0 || counts_[k] == samples,
                      "data set operator: batch ",
                      k,
                      " has ",
                      samples,
                      " samples and had ",
                      counts_[k],
                      " before; give the same samples for the same k");
    counts_[k] = samples;
    return batch;
  }

  void check_parameters(int64_t k, const Parameters& given) const {
    bool are_same = given.size() == parameters_.size();
    for (size_t p = 0; are_same && p < parameters_.size(); ++p) {
      are_same = given[p].tensor.is_same(parameters_[p].tensor);
    }
    TORCH_CHECK_VALUE(are_same,
                      "data set operator: batch ",
                      k,
                      " is asked about ",
                      given.size(),
                      " parameters that are not the ",
                      parameters_.size(),
                      " of batch 0; hand over the same tensors in the same order");
  }

  // Weighted by samples. Number -1 is no product: nothing of it is kept.
  template <typename Ask>
  Tensor mean_over_batches(int64_t number, const Tensor& vectors, const Ask& ask) const {
    const bool keeps = kept_ && number >= 0;
    KeptProducts::Partial done;
    if (keeps) done = kept_->partial(number, vectors).value_or(KeptProducts::Partial());
    // In double: in float a batch adds less and less to the sum of many.
    const auto wide = options().dtype(at::kDouble);
    done.sum = done.sum.defined() ? done.sum.to(wide) : at::zeros(vectors.sizes(), wide);
    for (int64_t k = done.batches; k < count(); ++k) {
      const Batch batch = new_batch(k);
      check_parameters(k, batch.parameters());
      ProductOptions asked;
      asked.groups = options_.groups;
      const auto part = curvature_operator(batch, kind_, asked);
      const int64_t samples = samples_in(batch);
      done.sum.add_(ask(*part).to(wide), static_cast<double>(samples));
      done.samples += samples;
      done.batches = k + 1;
      add_remarks(part->remarks());
      const bool is_last = done.batches == count();
      if (keeps && options_.keep_every > 0 && done.batches % options_.keep_every == 0 && !is_last) {
        kept_->keep(number, vectors, done);
      }
      if (options_.on_batch) options_.on_batch({products_, done.batches, count()});
    }
    return done.sum.div_(static_cast<double>(done.samples)).to(options());
  }

  void add_remarks(const std::vector<std::string>& some) const {
    for (const std::string& remark : some) {
      if (std::find(remarks_.begin(), remarks_.end(), remark) == remarks_.end()) {
        remarks_.push_back(remark);
      }
    }
  }

  // What has to be the same for products to be those of the same matrix, as far as it is known
  // before the data are gone through.
  std::string description() const {
    uint64_t values = 0;
    for (const auto& [name, tensor] : parameters_) values = fingerprint(tensor, values);
    std::ostringstream text;
    text << "kind " << static_cast<int>(kind_) << ", " << count() << " batches, the first of "
         << counts_[0] << " samples, " << dim() << " parameters with mark " << std::hex << values
         << std::dec;
    for (const auto& group : options_.groups) {
      text << ", group";
      for (size_t p : group) text << ' ' << p;
    }
    return text.str();
  }

  BatchSource source_;
  CurvatureKind kind_;
  DataSetOptions options_;
  mutable std::vector<int64_t> counts_;  // samples of each batch, -1 before it was seen
  Parameters parameters_;
  FlatParameters flat_;
  std::optional<KeptProducts> kept_;
  mutable int64_t products_ = 0;
  mutable std::vector<std::string> remarks_;
};

}  // namespace

std::shared_ptr<const CurvatureOperator> data_set_operator(int64_t batches,
                                                           BatchSource source,
                                                           CurvatureKind kind,
                                                           const DataSetOptions& options) {
  return std::make_shared<DataSetOperator>(batches, std::move(source), kind, options);
}

}  // namespace flightdeck
